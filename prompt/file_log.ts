// Which files an evaluation may read, and which it read, by the hash of the very bytes it got.

import { sha256 } from "../base/hash.ts";
import { isSystemPath } from "../base/system/reading.ts";
import type { FileRead } from "./types.ts";

/** Answers whether the policy lets a document take in the file at an absolute path. */
export type ReadPolicy = (path: string) => boolean;

/** A document has no environment variables, and those of running programs stand there. */
export const SYSTEM_FILE = "it is a file of the system, which may hold the variables of programs";

/** The files that were read so far. Of several readings of one file the last counts. */
export class FileLog {
  readonly #hashes = new Map<string, Promise<string>>();
  readonly #isReadable: ReadPolicy;

  constructor(isReadable: ReadPolicy = () => true) {
    this.#isReadable = isReadable;
  }

  /** Why the file may not be read, or null. To be asked before a reading. */
  refusal(path: string): string | null {
    if (this.#isReadable(path)) return null;
    return leadsToSystem(path) ? SYSTEM_FILE : "the sandbox policy hides it (see flemma sandbox status)";
  }

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

function leadsToSystem(path: string): boolean {
  try {
    return isSystemPath(Deno.realPathSync(path));
  } catch {
    return false; // Only the words of the refusal depend on it.
  }
}
