// Standard output of a filter: the document comes out once, and where an editor gave a file for it, the file never
// stands empty.

import { descriptorPath, descriptorState, writeOutput, writeTo } from "./streams.ts";

/**
 * Where the document of a filter goes. An empty regular file gets the input at once, so that an editor that reads it
 * after a kill finds the old text there; the end replaces it in place.
 */
export class FilterOutput {
  /** The same file under a position of its own; standard output's stays at the beginning. */
  #early: Deno.FsFile | null = null;
  #earlyLength = 0;

  /** Writes `input` where that can be taken back. Everywhere else this does nothing. */
  begin(input: Uint8Array): void {
    const file = openEmptyFile();
    if (file === null) return;
    try {
      writeTo(file, input);
      this.#early = file;
      this.#earlyLength = input.length;
    } catch {
      // A full disk: the end will meet it again and tell it. Half a document must not be taken for one.
      truncateQuietly(file);
      file.close();
    }
  }

  /** Writes the document as it is at the end. Throws `OutputError`. */
  finish(bytes: Uint8Array): void {
    const file = this.#early;
    this.#early = null;
    try {
      writeOutput(bytes);
      if (file !== null && bytes.length < this.#earlyLength) file.truncateSync(bytes.length);
    } finally {
      file?.close();
    }
  }
}

/** Standard output when it is an empty regular file that is written from its beginning; null otherwise. */
function openEmptyFile(): Deno.FsFile | null {
  // Elsewhere opening a descriptor's path gives the same position, and nothing could be taken back.
  if (Deno.build.os !== "linux") return null;
  try {
    const path = descriptorPath(1);
    const info = Deno.statSync(path);
    if (!info.isFile || info.size > 0) return null;
    const { flags, position } = descriptorState(1);
    if (position !== 0 || (flags & APPEND) !== 0) return null;
    return Deno.openSync(path, { write: true });
  } catch {
    // Closed, a deleted file of another user, no /proc: then the document comes out at the end only, as in a pipe.
    return null;
  }
}

/** O_APPEND in the flags that Linux shows. */
const APPEND = 0o2000;

function truncateQuietly(file: Deno.FsFile): void {
  try {
    file.truncateSync(0);
  } catch {
    // The file takes neither more nor less; what the end cannot write, it tells.
  }
}
