// Finds exports that no module imports, so that they need not be exported or can be removed.

import { MADE, OUTSIDE } from "./layers.ts";

/** Modules that are loaded by their text or by other programs, by the beginning of their path. */
const LOADED_OTHERWISE: readonly string[] = [
  "mod.ts",
  "advanced.ts",
  "cli.ts",
  "parser/library.ts",
  "tools/vellum/host/",
];

/** The text of each module, by its path from the root of the project. */
export type Sources = ReadonlyMap<string, string>;

/**
 * Returns the exports of the program that no module imports, as `FILE: NAME`. A type or class counts only if its
 * module does not use it in another place: parameter and return types of an exported function must be exported too.
 * The function expects the style of the formatter.
 */
export function deadExports(sources: Sources): string[] {
  const wanted = wantedNames(sources);
  return [...sources].flatMap(([path, text]) => {
    if (OUTSIDE.includes(path.split("/")[0]!) || path.includes(".generated.")) return [];
    if (LOADED_OTHERWISE.some((start) => path.startsWith(start))) return [];
    const named = wanted.get(path) ?? NOBODY;
    const found = text.matchAll(/^export (?:async )?(const|function\*?|class|interface|type) (\w+)/gm);
    return [...found].flatMap(([, kind, name]) => {
      if (named.names.has(name!) || named.by.some((user) => mentions(user, name!) > 0)) return [];
      const isType = kind === "interface" || kind === "type" || kind === "class";
      return isType && mentions(text, name!) > 1 ? [] : [`${path}: ${name}`];
    });
  });
}

/** What other modules import from a module: names, and the texts of modules that import all of it. */
interface Wanted {
  readonly names: Set<string>;
  readonly by: string[];
}

const NOBODY: Wanted = { names: new Set(), by: [] };

function wantedNames(sources: Sources): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  const of = (importer: string, specifier: string) => {
    const { pathname } = new URL(specifier, `file:///${importer}`);
    const path = pathname.slice(1);
    if (!wanted.has(path)) wanted.set(path, { names: new Set(), by: [] });
    return wanted.get(path)!;
  };
  for (const [path, text] of sources) {
    for (const [, list, specifier] of text.matchAll(/\{([^{}]*)\}\s+from "(\.[^"]*)"/g)) {
      for (const name of list!.split(",")) {
        of(path, specifier!).names.add(name.trim().replace(/^type /, "").replace(/ as .*/, ""));
      }
    }
    const all = /(?:\* (?:as \w+ )?from |\bimport\(\s*|^import )"(\.[^"]*)"/gm;
    for (const [, specifier] of text.matchAll(all)) of(path, specifier!).by.push(text);
  }
  return wanted;
}

function mentions(text: string, name: string): number {
  return [...text.matchAll(new RegExp(`(?<![\\w$])${name}(?![\\w$])`, "g"))].length;
}

/**
 * Reads every module of the project.
 * @param root absolute path of the project, without a final slash
 */
export async function readSources(root: string): Promise<Sources> {
  const sources = new Map<string, string>();
  const read = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(`${root}/${folder}`)) {
      if (name.startsWith(".") || (folder === "" && MADE.includes(name))) continue;
      const path = folder + name;
      if (isDirectory) await read(`${path}/`);
      else if (name.endsWith(".ts")) sources.set(path, await Deno.readTextFile(`${root}/${path}`));
    }
  };
  await read("");
  return sources;
}
