// The forms in which the program is distributed, each made from one bundle so that tests can start it.

import { compileProgram } from "../build/binary.ts";
import { bundleProgram } from "../build/bundle.ts";
import { versioned } from "../build/versioned.ts";
import { ROOT } from "./root.ts";

/** How a program is started, and its environment. */
export interface Way {
  /** The command that starts the program. */
  readonly program: readonly string[];
  /** The variable PATH of the caller. */
  readonly path: string;
}

/** The base of a binary, and the Deno of the same version. */
export interface Base {
  readonly denort: string;
  readonly deno: string;
}

const PATH = Deno.env.get("PATH") ?? "/usr/bin:/bin";

const run = (file: string) => [Deno.execPath(), "run", "-A", "--quiet", file];

/** Returns the sources, as developers start them. */
export function fromSource(): Way {
  return { program: run(`${ROOT}/cli.ts`), path: PATH };
}

/** Builds the bundle in a folder. */
export async function makeBundle(folder: string): Promise<Way> {
  await Deno.mkdir(folder);
  await bundleProgram(`${folder}/flemma.js`);
  await versioned(`${folder}/flemma.js`);
  return fromBundle(folder);
}

/** Returns the bundle that `makeBundle` built in a folder. */
export function fromBundle(folder: string): Way {
  return { program: run(`${folder}/flemma.js`), path: PATH };
}

/**
 * Installs the bundle like npm installs the package, in a project folder.
 * @param bundle the folder that contains it
 * @param node the Node to provide; omitted if not needed
 */
export async function asPackage(bundle: string, folder: string, node?: string): Promise<Way> {
  const packages = `${folder}/node_modules`;
  const system = `${Deno.build.os}-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}${
    Deno.build.os === "linux" ? "-glibc" : ""
  }`;
  for (const name of [".bin", "deno", `@deno/${system}`, "flemma/bin"]) {
    await Deno.mkdir(`${packages}/${name}`, { recursive: true });
  }
  await copyFolder(bundle, `${packages}/flemma/lib`);
  await Deno.copyFile(`${ROOT}/scripts/build/npm/flemma.bin`, `${packages}/flemma/bin/flemma.bin`);
  await Deno.copyFile(Deno.execPath(), `${packages}/@deno/${system}/deno`);
  await Deno.symlink("../flemma/bin/flemma.bin", `${packages}/.bin/flemma`);
  return { program: [`${packages}/.bin/flemma`], path: await withoutRuntimes(`${folder}/bin`, node) };
}

/** Compiles the bundle in a folder into one binary; throws if that fails. */
export async function asBinary(bundle: string, folder: string, { denort, deno }: Base): Promise<Way> {
  const file = `${folder}/flemma`;
  const wrong = await compileProgram({ bundle, target: "", file, deno, base: denort });
  if (wrong !== null) throw new Error(wrong);
  return { program: [file], path: PATH };
}

/** Returns the base for binaries that the environment gives; null if there is none. */
export function baseOfEnvironment(): Base | null {
  const denort = Deno.env.get("DENORT_BIN");
  return denort === undefined ? null : { denort, deno: Deno.env.get("COMPILE_DENO") ?? Deno.execPath() };
}

/** Creates a folder for a PATH, with the programs of our PATH except JavaScript runtimes, and with the given Node. */
export async function withoutRuntimes(folder: string, node?: string): Promise<string> {
  await Deno.mkdir(folder, { recursive: true });
  const left = ["deno", "node", "nodejs", "npm", "npx", "bun", "bunx", "corepack", "pnpm", "yarn"];
  const seen = new Set(left);
  for (const place of PATH.split(":")) {
    const entries = await Array.fromAsync(Deno.readDir(place)).catch((error) => {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    });
    for (const { name } of entries) {
      if (seen.has(name)) continue;
      seen.add(name);
      await Deno.symlink(`${place}/${name}`, `${folder}/${name}`);
    }
  }
  if (node !== undefined) await Deno.symlink(node, `${folder}/node`);
  return folder;
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    await (isDirectory ? copyFolder : Deno.copyFile)(`${from}/${name}`, `${to}/${name}`);
  }
}
