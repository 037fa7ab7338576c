// Reads the house: which module imports which, as Deno itself resolves it, and how full the folders are.

import { MADE, OUTSIDE } from "./layers.ts";

/** The house as it stands on disk. Paths count from the root of the project. */
export interface House {
  /** Each module of the program with what it imports from the project: late, by types, and data too. */
  readonly modules: ReadonlyMap<string, readonly string[]>;
  /** Each folder with modules in it or below it, with the number of its entries. */
  readonly folders: ReadonlyMap<string, number>;
}

/** The part of `deno info --json` that is read here. */
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
 * Reads the house below a folder.
 *
 * @param root Absolute path of the project, without a slash at the end.
 * @throws When a folder cannot be read, or Deno cannot tell the graph.
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

/** What each module imports from the project. One run of Deno over a module that imports them all. */
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
