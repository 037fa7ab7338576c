// Which further files code brings with it: what modules import from the disk, and what that imports.

import { readRegular } from "../../base/files.ts";
import { modulePath } from "../schema/module_path.ts";

/** More than any policy is made of; beyond it the count itself changes what is trusted. */
const MOST_FILES = 500;

/**
 * What stands after `from` or `import` as a path. Comments and texts are looked at too: one file too many that must
 * stay as it is does no harm. A path that the code computes is not seen.
 */
const IMPORT = /\b(?:from|import)\b\s*\(?\s*["']((?:\.{1,2}\/|\/|file:)[^"'\n]+)["']/g;

/** The files, and all files they import by path, directly or not. Absolute; what cannot be read imports nothing. */
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

/** Null for what is no readable file: a path in a comment may lead nowhere, and code would not load either. */
async function textOf(path: string): Promise<string | null> {
  try {
    return new TextDecoder().decode(await readRegular(path));
  } catch {
    return null;
  }
}
