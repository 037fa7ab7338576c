// Writes a filter's document to standard output once, and never leaves an editor's output file empty.

import { descriptorPath, descriptorState, writeOutput, writeTo } from "./streams.ts";

/**
 * Writes a filter's document. If the output is an empty regular file, `begin` writes the input into it, so
 * that an editor that reads the file after a kill finds the old text. `finish` then replaces it in place.
 */
export class FilterOutput {
  /**
   * The output file, opened again with a position of its own. The position of standard output stays at the beginning.
   */
  #early: Deno.FsFile | null = null;
  #earlyLength = 0;

  /** Writes `input` if it can be overwritten later; otherwise does nothing. */
  begin(input: Uint8Array): void {
    const file = openEmptyFile();
    if (file === null) return;
    try {
      writeTo(file, input);
      this.#early = file;
      this.#earlyLength = input.length;
    } catch {
      // The disk is full: `finish` will fail and report it. Half a document must not be mistaken for a whole one.
      truncateQuietly(file);
      file.close();
    }
  }

  /** Writes the final document. Throws `OutputError`. */
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

/** Returns standard output if it is an empty regular file that is written from its beginning; null otherwise. */
function openEmptyFile(): Deno.FsFile | null {
  // On systems other than Linux, the path of standard output opens with a shared position, so the early text could not
  // be overwritten.
  if (Deno.build.os !== "linux") return null;
  try {
    const path = descriptorPath(1);
    const info = Deno.statSync(path);
    if (!info.isFile || info.size > 0) return null;
    const { flags, position } = descriptorState(1);
    if (position !== 0 || (flags & APPEND) !== 0) return null;
    return Deno.openSync(path, { write: true });
  } catch {
    // The output is closed, is a deleted file of another user, or there is no /proc. As with a pipe, the document is
    // then written only at the end.
    return null;
  }
}

/** The flag O_APPEND, as Linux shows it in fdinfo. */
const APPEND = 0o2000;

function truncateQuietly(file: Deno.FsFile): void {
  try {
    file.truncateSync(0);
  } catch {
    // The file can be neither extended nor truncated. If the final write fails too, that failure is reported.
  }
}
