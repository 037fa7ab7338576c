// Finds what files import from the package that they are written for.

import { MOST_OF_CODE, readRegular } from "../../base/system/regular_file.ts";

/** Matches the names of an import or export from the package; not those of `import type`. */
const IMPORTS =
  /\b(?:import|export)\s+(?:[\w$]+\s*,\s*)?\{([^{}]*)\}\s*from\s*["'](?:@vellumai\/plugin-api|flemma)["']/g;
/** Matches one name of the list, without the name that the file gives it. */
const NAME = /^([\p{ID_Start}$_][\p{ID_Continue}$]*)(?:\s+as\s|$)/u;
/** Words that are not the name of an export here. */
const NOT_NAMES: ReadonlySet<string> = new Set(["default", "type"]);

/** Returns the names of values, and of some types, that code imports from the package. */
function apiNamesIn(code: string): string[] {
  const found = [...code.matchAll(IMPORTS)].flatMap(([, list]) => list!.split(","));
  const names = found.map((each) => NAME.exec(each.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, "").trim())?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].filter((name) => !NOT_NAMES.has(name));
}

/** Returns these names for several files. A file that cannot be read has none, because it cannot be loaded either. */
export async function apiNamesOf(files: readonly string[]): Promise<string[]> {
  const names = await Promise.all(files.map(async (path) => {
    try {
      return apiNamesIn(new TextDecoder().decode(await readRegular(path, MOST_OF_CODE)));
    } catch {
      return [];
    }
  }));
  return names.flat();
}
