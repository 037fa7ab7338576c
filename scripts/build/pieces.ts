// Assigns each part of a program to a file. esbuild splits the program into many small chunks, and rollup joins these
// into few files.

import type { Metafile } from "esbuild";
import { rollup } from "rollup";

/** One file of a program. */
export interface Piece {
  readonly name: string;
  /**
   * Late-loaded modules in this file. An entry is a path from the root of the project, or a folder with a final `/`
   * for all its late modules that no piece names.
   */
  readonly roots: readonly string[];
  /** Files that are always loaded before this one, so that it may use their content. @default none */
  readonly on?: readonly string[];
}

/** A split program. Chunks are identified by their file paths, as esbuild reports them. */
export interface Split {
  readonly outputs: Metafile["outputs"];
  /** The module that starts the program. */
  readonly entry: string;
  readonly pieces: readonly Piece[];
  /** Modules in separate files, with the names of the files. */
  readonly alone: ReadonlyMap<string, string>;
}

/** The part of the first file that is needed to start. */
const START = "start";

/**
 * Returns the file of each chunk except the first, by name. A chunk that several pieces need goes into the last piece
 * on which all of them depend, so that no file loads another one only for a part of it.
 * @throws if a root is not loaded late, or pieces that need the same chunk depend on no common file
 */
export function pieceOfEach({ outputs, entry, pieces, alone }: Split): Map<string, string> {
  const chunks = new Map(
    Object.entries(outputs).flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[entryPoint, path] as const]
    ),
  );
  const named = new Set([...pieces.flatMap(({ roots }) => roots), ...alone.keys()]);
  const folders = pieces.flatMap(({ roots }) => roots.filter((root) => root.endsWith("/")));
  const isRoot = (module: string) => named.has(module) || folders.some((folder) => module.startsWith(folder));
  const first = chunks.get(entry)!;
  const startsWith = reachedFrom([first], outputs, () => false);
  const users = new Map<string, string[]>();
  const missed: string[] = [];
  const use = (name: string, modules: readonly string[]) => {
    const starts = modules.map((module) => chunks.get(module)!);
    for (const chunk of reachedFrom(starts, outputs, (module) => !isRoot(module))) {
      if (!startsWith.has(chunk)) users.set(chunk, [...users.get(chunk) ?? [], name]);
    }
  };
  for (const { name, roots } of pieces) {
    for (const root of roots) {
      const found = root.endsWith("/")
        ? [...chunks.keys()].filter((module) => module.startsWith(root) && !named.has(module))
        : [root].filter((module) => chunks.has(module));
      if (found.length === 0) missed.push(root);
      use(name, found);
    }
  }
  if (missed.length > 0) {
    throw new Error(`nothing loads ${missed.join(" or ")} late: correct PIECES or the import`);
  }
  for (const [module, name] of alone) use(name, [module]);
  const files = new Map([...startsWith].filter((chunk) => chunk !== first).map((chunk) => [chunk, START]));
  const below = ancestorsOf(pieces);
  for (const [chunk, names] of users) files.set(chunk, homeOf(names, below, chunk));
  return files;
}

/**
 * Returns the chunks that are loaded with some others; `isJoined` tells which late modules are in the same file as the
 * chunk that loads them.
 */
function reachedFrom(
  starts: readonly string[],
  outputs: Metafile["outputs"],
  isJoined: (module: string) => boolean,
): Set<string> {
  const reached = new Set(starts);
  for (const chunk of reached) {
    for (const { path, kind } of outputs[chunk]!.imports) {
      const output = outputs[path];
      if (output === undefined) continue;
      if (kind !== "dynamic-import" || isJoined(output.entryPoint!)) reached.add(path);
    }
  }
  return reached;
}

/** Returns each piece with itself and all pieces on which it depends, in the order of the pieces. */
function ancestorsOf(pieces: readonly Piece[]): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, ReadonlySet<string>>();
  for (const { name, on = [] } of pieces) {
    all.set(name, new Set([...on.flatMap((other) => [...all.get(other)!]), name]));
  }
  return all;
}

/** Returns the file of a chunk that is used in these pieces. */
function homeOf(
  names: readonly string[],
  below: ReadonlyMap<string, ReadonlySet<string>>,
  chunk: string,
): string {
  const users = names.filter((name) => below.has(name));
  // Of separate files, the first contains what other ones of them need too.
  if (users.length === 0) return names[0]!;
  const home = [...below.keys()].findLast((name) => users.every((user) => below.get(user)!.has(name)));
  if (home === undefined) {
    throw new Error(`${[...new Set(users)].join(" and ")} stand on no file in common, and need ${chunk}`);
  }
  return home;
}

/**
 * Joins the chunks in a folder into files; returns the text of each by its path relative to the first one.
 * @param first the chunk that starts the program, an absolute path
 * @param name the name of the first file, and of the folder of the others
 * @param fileOf the file of a chunk, by its absolute path
 */
export async function joined(
  first: string,
  name: string,
  fileOf: (chunk: string) => string | undefined,
): Promise<Map<string, string>> {
  const program = await rollup({
    input: { [name]: first },
    external: /^node:/,
    // esbuild has already removed unused code.
    treeshake: false,
    onLog(level, log) {
      if (level === "warn") throw new Error(log.message);
    },
  });
  const { output } = await program.generate({
    format: "es",
    manualChunks: fileOf,
    onlyExplicitManualChunks: true,
    hoistTransitiveImports: false,
    entryFileNames: "[name].js",
    chunkFileNames: `${name}/[name].js`,
  });
  await program.close();
  return new Map(output.flatMap((file) => file.type === "chunk" ? [[file.fileName, file.code]] : []));
}
