// Files for one test: a home folder, a project, a session folder, and the program run in it.

import { runProgram } from "../cli/program.ts";
import { denoFolder, freshFolder } from "../folder.ts";
import { testsWith } from "../tests_with.ts";

export interface World {
  readonly folder: string;
  readonly home: string;
  readonly project: string;
  write(path: string, text: string): Promise<void>;
  /** Runs a command about settings in the project folder. */
  run(...words: string[]): Promise<{ code: number; out: string; err: string }>;
  environment(): { cwd: string; home: string; variables: Record<string, string> };
}

/** Makes the world, runs the test in it and takes it away. Paths are real ones. */
export async function inWorld(test: (world: World) => Promise<void>): Promise<void> {
  const folder = await freshFolder("flemma-world-");
  const home = `${folder}/home`;
  const project = `${folder}/project`;
  const variables = { HOME: home, XDG_RUNTIME_DIR: `${folder}/run`, PATH: Deno.env.get("PATH") ?? "" };
  for (const path of [home, `${project}/.git`, `${folder}/run`]) await Deno.mkdir(path, { recursive: true });
  const world: World = {
    folder,
    home,
    project,
    environment: () => ({ cwd: project, home, variables }),
    async write(path, text) {
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(path, text);
    },
    async run(...words) {
      const around = { cwd: project, variables: { ...variables, DENO_DIR: denoFolder(), NO_COLOR: "1" } };
      const { code, stdout, stderr } = await runProgram(words, around);
      return { code, out: stdout, err: stderr };
    },
  };
  try {
    await test(world);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Defines a test that runs in `inWorld`. */
export const testInWorld = testsWith(inWorld);
