// Records the files that an evaluation read, with the hash of their bytes, and checks whether it may read them.

import { sha256 } from "../base/hash.ts";
import { isSystemPath } from "../base/system/system_files.ts";
import type { FileRead } from "./types.ts";

/** True if the policy lets a document include the file at an absolute path. */
export type ReadPolicy = (path: string) => boolean;

/** Documents cannot read environment variables, and system files expose those of running programs. */
export const SYSTEM_FILE = "it is a system file, which may contain the environment of programs";

/** Files read so far; the last read of a file counts. */
export class FileLog {
  readonly #hashes = new Map<string, Promise<string>>();
  readonly #isReadable: ReadPolicy;

  constructor(isReadable: ReadPolicy = () => true) {
    this.#isReadable = isReadable;
  }

  /** Returns why the file may not be read, or null. Call it before reading. */
  refusal(path: string): string | null {
    if (this.#isReadable(path)) return null;
    return leadsToSystem(path) ? SYSTEM_FILE : "the sandbox policy hides it (see flemma sandbox status)";
  }

  /** Records a read; `path` is absolute. The hash is computed in the background. */
  note(path: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#hashes.set(path, sha256(bytes));
  }

  /** Returns all files with their hashes, sorted by path, including those of `earlier` that were not read again. */
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
    return false; // The error affects only the wording of the refusal.
  }
}
