// The files of every package, in one folder: the bundle, the manual page, JSON Schemas, completions and licenses.

import manifest from "../../../deno.json" with { type: "json" };
import { bundleProgram } from "../../build/bundle.ts";
import { copyPages } from "../../build/pages.ts";
import { writeReferences } from "../../build/references.ts";
import { versioned } from "../../build/versioned.ts";
import { COMPLETIONS } from "./contents.ts";

export interface Staged {
  /** Absolute path of the folder with the files. */
  readonly folder: string;
  /** Name of the folder in it with the late-loaded parts of the bundle. */
  readonly parts: string;
  readonly version: string;
}

/** Builds the program and its other files into a folder that does not exist yet. */
export async function stage(folder: string): Promise<Staged> {
  await Deno.mkdir(`${folder}/completions`, { recursive: true });
  await bundleProgram(`${folder}/flemma.js`);
  const parts = await versioned(`${folder}/flemma.js`);
  await copyPages(folder);
  await writeReferences(folder);
  for (const [shell, name] of Object.entries(COMPLETIONS)) {
    await Deno.writeTextFile(
      `${folder}/completions/${name}`,
      await completionsOf(`${folder}/flemma.js`, shell),
    );
  }
  return { folder, parts, version: manifest.version };
}

async function completionsOf(program: string, shell: string): Promise<string> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-config", "--no-lock", program, "completions", shell],
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`flemma completions ${shell} failed`);
  return new TextDecoder().decode(stdout);
}
