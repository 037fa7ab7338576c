// Which file each part of a program stands in: esbuild splits it into many small chunks, rollup joins these into few files.

import type { Metafile } from "esbuild";
import { rollup } from "rollup";

/** One file of a program. */
export interface Piece {
  readonly name: string;
  /**
   * Modules that are loaded late and bring this file in: paths from the root of the project, or a folder with `/` at its
   * end for all late modules in it that no piece names.
   */
  readonly roots: readonly string[];
  /** Files that are loaded whenever this one is, so that it may use what stands in them. @default none */
  readonly on?: readonly string[];
}

/** A program that was split. Chunks are identified by the paths of their files, as esbuild reports them. */
export interface Split {
  readonly outputs: Metafile["outputs"];
  /** The module that starts the program. */
  readonly entry: string;
  readonly pieces: readonly Piece[];
  /** Modules that make a file by themselves, with its name. */
  readonly alone: ReadonlyMap<string, string>;
}

/** What the first file needs to start. */
const START = "start";

/**
 * The file of each chunk but the first one, by name. A chunk that several pieces need stands in the last piece that they all
 * stand on, so that no file loads another one for a part of it.
 *
 * @throws When nothing loads a root late, or pieces that need the same chunk stand on no file in common.
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

/** Chunks that are loaded with some others; `isJoined` says which late modules stand with the chunk that loads them. */
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

/** Each piece with itself and all that it stands on, in the order of the pieces. */
function ancestorsOf(pieces: readonly Piece[]): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, ReadonlySet<string>>();
  for (const { name, on = [] } of pieces) {
    all.set(name, new Set([...on.flatMap((other) => [...all.get(other)!]), name]));
  }
  return all;
}

/** The file of a chunk that is used in these ones. */
function homeOf(
  names: readonly string[],
  below: ReadonlyMap<string, ReadonlySet<string>>,
  chunk: string,
): string {
  const users = names.filter((name) => below.has(name));
  // Of files that stand by themselves the first holds what others of them need too.
  if (users.length === 0) return names[0]!;
  const home = [...below.keys()].findLast((name) => users.every((user) => below.get(user)!.has(name)));
  if (home === undefined) {
    throw new Error(`${[...new Set(users)].join(" and ")} stand on no file in common, and need ${chunk}`);
  }
  return home;
}

/**
 * Joins the chunks in a folder into files; gives the text of each by its path from the first one.
 *
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
    // esbuild has left out what nobody uses.
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
