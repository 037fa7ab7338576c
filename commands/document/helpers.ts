// The documents of helpers, found by the folder in which they lie.

import { helperFolderOf } from "../../base/paths.ts";

/** Returns the names of the helpers of a document, in alphabetical order. */
export function helperNames(document: string): readonly string[] {
  try {
    return [...Deno.readDirSync(helperFolderOf(document))].map(({ name }) => name)
      .filter((name) => name.endsWith(".chat")).map((name) => name.slice(0, -".chat".length)).sort();
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory) return [];
    throw thrown;
  }
}
