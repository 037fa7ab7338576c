// Names of files in the state folder.

import { stateFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";

export { stateFolder };

/** Names one document in the state folder: 32 hexadecimal digits of the SHA-256 of its real path. */
export function documentKey(realPath: string): Promise<string> {
  if (last?.realPath !== realPath) {
    last = { realPath, key: sha256(realPath).then((digest) => digest.slice(0, 32)) };
  }
  return last.key;
}

/** Caches the last key: a run asks for that of its one document many times. */
let last: { readonly realPath: string; readonly key: Promise<string> } | undefined;

/** A time for file names: sortable, without special characters of a shell. */
export function timestamp(date: Date): string {
  return date.toISOString().replace(/[-:]/g, "").replace(".", "");
}
