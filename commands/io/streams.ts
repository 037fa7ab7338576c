// The three standard streams: reading all of the input, writing all of the output, and whether two of them are one.

import { concat } from "../../base/bytes.ts";
import { thrownText } from "../../base/problem.ts";

/** Bytes of standard input that are kept in memory; more is passed on as it comes. */
const MAX_INPUT_BYTES = 1024 ** 3;

/** Reads standard input to its end. `complete` is false when it holds more than a document may. Throws on failure. */
export function readInput(): { readonly bytes: Uint8Array; readonly complete: boolean } {
  const pieces: Uint8Array[] = [];
  let length = 0;
  while (length <= MAX_INPUT_BYTES) {
    const piece = new Uint8Array(64 * 1024);
    const got = Deno.stdin.readSync(piece);
    if (got === null) return { bytes: concat(pieces), complete: true };
    pieces.push(piece.subarray(0, got));
    length += got;
  }
  return { bytes: concat(pieces), complete: false };
}

/** Copies what is left of standard input to standard output. */
export function passRestThrough(): void {
  const piece = new Uint8Array(64 * 1024);
  for (let got = Deno.stdin.readSync(piece); got !== null; got = Deno.stdin.readSync(piece)) {
    writeOutput(piece.subarray(0, got));
  }
}

/** Standard output could not be written: its reader is gone, or the disk behind it is full. */
export class OutputError extends Error {
  constructor(cause: unknown) {
    super(
      cause instanceof Deno.errors.BrokenPipe
        ? "Nobody reads standard output any more."
        : `Standard output cannot be written: ${thrownText(cause)}.`,
      { cause },
    );
  }
}

/** Writes all bytes to standard output. Throws `OutputError`. */
export function writeOutput(data: Uint8Array | string): void {
  try {
    writeTo(Deno.stdout, data);
  } catch (thrown) {
    throw new OutputError(thrown);
  }
}

/** Writes to standard error. When that fails nobody is left to be told, and a run must not end for lack of listeners. */
export function writeError(text: string): void {
  try {
    writeTo(Deno.stderr, text);
  } catch {
    // Closed, full, or its terminal is gone: the exit code is what remains.
  }
}

function writeTo(stream: { writeSync(bytes: Uint8Array): number }, data: Uint8Array | string): void {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  for (let written = 0; written < bytes.length;) written += stream.writeSync(bytes.subarray(written));
}

/**
 * Whether standard error is the same file or pipe as standard output: then a message would land in the document
 * (cli 3.2). A terminal is no such place; there both are shown to a person anyway.
 */
export function errorIsOutput(): boolean {
  if (Deno.stdout.isTerminal()) return false;
  const output = statDescriptor(1);
  const error = statDescriptor(2);
  return output !== null && error !== null && output.dev === error.dev && output.ino === error.ino;
}

function statDescriptor(descriptor: number): Deno.FileInfo | null {
  for (const folder of ["/proc/self/fd", "/dev/fd"]) {
    try {
      return Deno.statSync(`${folder}/${descriptor}`);
    } catch {
      // Closed, or a system without this folder: the next one answers, or there is nothing to compare.
    }
  }
  return null;
}
