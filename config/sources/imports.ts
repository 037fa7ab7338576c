// Finds the modules that code files import by path, directly or through other modules.

import { readRegular } from "../../base/files.ts";
import { modulePath } from "../schema/module_path.ts";

/**
 * Limit on the number of files, far above what any policy needs. Imports beyond it are not followed, so a trust entry
 * does not cover them.
 */
const MOST_FILES = 500;

/**
 * Matches the path after `from` or `import`, also in comments and strings. A wrong match does no harm: it only adds a
 * file that must stay unchanged. Computed paths are not detected.
 */
const IMPORT = /\b(?:from|import)\b\s*\(?\s*["']((?:\.{1,2}\/|\/|file:)[^"'\n]+)["']/g;

/** Returns the files and all their imports by path, as absolute paths. Unreadable files import nothing. */
export async function withImports(files: readonly string[], home: string): Promise<string[]> {
  const found = new Set(files);
  for (const file of found) {
    if (found.size >= MOST_FILES) break;
    const code = await textOf(file);
    for (const [, written = ""] of (code ?? "").matchAll(IMPORT)) {
      const path = modulePath(written, file.slice(0, file.lastIndexOf("/")), home);
      if (!found.has(path) && await textOf(path) !== null) found.add(path);
    }
  }
  return [...found];
}

/**
 * Returns the text of a file, or null if it is unreadable. A path in a comment may lead nowhere, and code at an
 * unreadable path would not load either.
 */
async function textOf(path: string): Promise<string | null> {
  try {
    return new TextDecoder().decode(await readRegular(path));
  } catch {
    return null;
  }
}
