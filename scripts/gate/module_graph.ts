// Reads which module imports which, as Deno resolves it, and the number of entries of each folder.

import { MADE, OUTSIDE } from "./layers.ts";

/** The structure on disk. Paths are relative to the root of the project. */
export interface House {
  /** Each module of the program with its imports from the project, including late imports, types and data. */
  readonly modules: ReadonlyMap<string, readonly string[]>;
  /** Each folder that contains modules, also in subfolders, with its number of entries. */
  readonly folders: ReadonlyMap<string, number>;
}

/** The part of `deno info --json` that is used. */
interface Info {
  readonly modules: readonly {
    readonly specifier: string;
    readonly error?: string;
    readonly dependencies?: readonly {
      readonly code?: { readonly specifier?: string };
      readonly type?: { readonly specifier?: string };
    }[];
  }[];
}

/**
 * Reads the structure below a folder.
 * @param root absolute path of the project, without a final slash
 * @throws if a folder cannot be read, or Deno cannot compute the graph
 */
export async function readHouse(root: string): Promise<House> {
  const found = { paths: [] as string[], folders: new Map<string, number>() };
  for await (const { name, isDirectory } of Deno.readDir(root)) {
    if (name.startsWith(".") || MADE.includes(name)) continue;
    if (isDirectory) await walk(root, name, found);
    else if (name.endsWith(".ts")) found.paths.push(name);
  }
  const paths = found.paths.filter((path) => !OUTSIDE.includes(path.split("/")[0]!)).sort();
  return { modules: await imports(root, paths), folders: found.folders };
}

async function walk(
  root: string,
  folder: string,
  found: { readonly paths: string[]; readonly folders: Map<string, number> },
): Promise<void> {
  const before = found.paths.length;
  let entries = 0;
  for await (const { name, isDirectory } of Deno.readDir(`${root}/${folder}`)) {
    entries++;
    if (isDirectory) await walk(root, `${folder}/${name}`, found);
    else if (name.endsWith(".ts")) found.paths.push(`${folder}/${name}`);
  }
  if (found.paths.length > before) found.folders.set(folder, entries);
}

/** Returns the imports of each module from the project. Runs Deno once, on a module that imports them all. */
async function imports(root: string, paths: readonly string[]): Promise<Map<string, readonly string[]>> {
  const base = new URL(`file://${root}/`).href;
  const all = paths.map((path) => `import ${JSON.stringify(base + path)};`).join("");
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", `data:application/typescript,${encodeURIComponent(all)}`],
    cwd: root,
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`the module graph could not be read: ${new TextDecoder().decode(stderr)}`);
  const info: Info = JSON.parse(new TextDecoder().decode(stdout));
  const targets = new Map(paths.map((path): [string, string[]] => [path, []]));
  for (const { specifier, error, dependencies = [] } of info.modules) {
    const own = specifier.startsWith(base) ? targets.get(specifier.slice(base.length)) : undefined;
    if (own === undefined) continue;
    if (error !== undefined) throw new Error(error);
    for (const { code, type } of dependencies) {
      const target = code?.specifier ?? type?.specifier ?? "";
      if (target.startsWith(base)) own.push(target.slice(base.length));
    }
  }
  return targets;
}
