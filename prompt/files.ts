// Notes which files an evaluation reads, by the hash of the very bytes it got (chat-format 9.4).

import { sha256 } from "../config/hash.ts";
import type { FileRead } from "./types.ts";

/** The files that were read so far. Of several readings of one file the last counts. */
export class FileLog {
  readonly #hashes = new Map<string, Promise<string>>();

  /** Takes note of a reading; `path` is absolute. Reading goes on while the hash is made. */
  note(path: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#hashes.set(path, sha256(bytes));
  }

  /** All files with their hashes, sorted by path; those of `earlier` too, where they were not read again. */
  async files(earlier: FileLog = new FileLog()): Promise<readonly FileRead[]> {
    const hashes = new Map([...earlier.#hashes, ...this.#hashes]);
    const files = await Promise.all([...hashes].map(async ([path, hash]) => ({ path, hash: await hash })));
    return files.sort((a, b) => a.path < b.path ? -1 : 1);
  }
}
