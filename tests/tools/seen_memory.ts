// A memory of seen files for the calls of a document, in this process only.

import type { SeenFile, SeenFiles } from "../../tools/definition.ts";

/** An empty memory. */
export function seenInMemory(): SeenFiles {
  const seen = new Map<string, SeenFile>();
  return {
    get paths() {
      return [...seen.keys()];
    },
    get: (path) => seen.get(path) ?? null,
    record: (files) => {
      for (const [path, file] of files) seen.set(path, file);
      return Promise.resolve();
    },
  };
}
