// Names of files in the state folder.

import { stateFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";

export { stateFolder };

/** Returns the name of one document in the state folder: 32 hexadecimal digits of the SHA-256 of its real path. */
export function documentKey(realPath: string): Promise<string> {
  if (last?.realPath !== realPath) {
    last = { realPath, key: sha256(realPath).then((digest) => digest.slice(0, 32)) };
  }
  return last.key;
}

/** Caches the last key, because a run needs the key of its one document many times. */
let last: { readonly realPath: string; readonly key: Promise<string> } | undefined;

/** Formats a time for file names, so that it sorts well and contains no special characters of a shell. */
export function timestamp(date: Date): string {
  return date.toISOString().replace(/[-:]/g, "").replace(".", "");
}
