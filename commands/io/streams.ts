// Reads standard input, writes standard output and error, and detects what each of them is connected to.

import { concat, MOST_TEXT_BYTES } from "../../base/bytes.ts";
import { writeAllSync } from "../../base/files.ts";
import { thrownText } from "../../base/problem.ts";
import { visible } from "../../base/visible.ts";
import { Exit } from "./exit.ts";

/** Milliseconds between two attempts on a stream that another process set to non-blocking. */
const RETRY_MILLISECONDS = 2;

/** Standard input as far as it was read. */
export interface Input {
  readonly bytes: Uint8Array;
  /** False if the input exceeds the size limit of a document. */
  readonly complete: boolean;
}

/**
 * Standard input, read once. One object per run is passed on, because each bundle has its own copy of a module's
 * variables. A filter needs it to output again what was read.
 */
export class StandardInput {
  #first: Uint8Array = new Uint8Array(0);
  #whole: Input | null = null;
  #taken = false;

  get taken(): boolean {
    return this.#taken;
  }

  /** True if everything was read, and nothing came. */
  get isEmpty(): boolean {
    return this.#whole?.bytes.length === 0;
  }

  /** Reads everything. Throws on failure. */
  read(): Input {
    this.#taken = true;
    return this.#whole ??= readInput(this.#first);
  }

  /** Returns true if bytes arrive within `wait` milliseconds; `read` returns these bytes too. Throws on failure. */
  async comes(wait: number): Promise<boolean> {
    const first = await firstInput(wait);
    if (first === null || first.length === 0) return false;
    this.#taken = true;
    this.#first = first;
    return true;
  }
}

/** Reads standard input to its end, or until it exceeds the size limit; `first` was already read from it. */
function readInput(first: Uint8Array): Input {
  const pieces: Uint8Array[] = [first];
  let length = first.length;
  while (length <= MOST_TEXT_BYTES) {
    const piece = new Uint8Array(64 * 1024);
    const got = readPiece(piece);
    if (got === null) return { bytes: concat(pieces), complete: true };
    pieces.push(piece.subarray(0, got));
    length += got;
  }
  return { bytes: concat(pieces), complete: false };
}

/** Returns the first bytes of standard input; empty at its end, null if none arrive within `wait` milliseconds. */
async function firstInput(wait: number): Promise<Uint8Array | null> {
  const begun = performance.now();
  const piece = new Uint8Array(64 * 1024);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((done) => timer = setTimeout(() => done("late"), wait));
  try {
    while (true) {
      try {
        const got = await Promise.race([Deno.stdin.read(piece), late]);
        return got === "late" ? null : piece.subarray(0, got ?? 0);
      } catch (thrown) {
        if (!(thrown instanceof Deno.errors.WouldBlock)) throw thrown;
        if (performance.now() - begun > wait) return null;
        block();
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Copies the rest of standard input to standard output. */
export function passRestThrough(): void {
  const piece = new Uint8Array(64 * 1024);
  for (let got = readPiece(piece); got !== null; got = readPiece(piece)) {
    writeOutput(piece.subarray(0, got));
  }
}

function readPiece(piece: Uint8Array): number | null {
  for (;;) {
    try {
      return Deno.stdin.readSync(piece);
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.WouldBlock)) throw thrown;
      block();
    }
  }
}

/**
 * Error of standard output that cannot be written: its reader is gone, or the disk is full. Use `asOutputError` to
 * recognize it, since each shipped bundle has its own copy of this class.
 */
export class OutputError extends Error {
  override readonly name = "OutputError";
  /** True if the reader closed the pipe. Reports then end without a message, as other programs in a pipe do. */
  readonly readerGone: boolean;

  constructor(cause: unknown) {
    const readerGone = cause instanceof Deno.errors.BrokenPipe;
    super(
      readerGone
        ? "The reader of standard output closed it."
        : `Standard output cannot be written: ${thrownText(cause)}.`,
      { cause },
    );
    this.readerGone = readerGone;
  }
}

/** Returns the thrown value if it is an `OutputError` of any bundle, else null. */
export function asOutputError(thrown: unknown): OutputError | null {
  return thrown instanceof Error && thrown.name === "OutputError" ? thrown as OutputError : null;
}

/** Writes all bytes to standard output. Throws `OutputError`. */
export function writeOutput(data: Uint8Array | string): void {
  try {
    writeStandard(Deno.stdout, 1, data);
  } catch (thrown) {
    throw new OutputError(thrown);
  }
}

/** Writes lines for people; control characters from models and untrusted documents are made visible. */
export function writeLines(text: string): void {
  writeOutput(visible(text, { lines: true }));
}

/**
 * Writes data byte for byte for files and other programs. At a terminal the data is only for reading, so control
 * characters are made visible.
 */
export function writeData(data: Uint8Array | string): void {
  if (!Deno.stdout.isTerminal()) writeOutput(data);
  else writeLines(typeof data === "string" ? data : new TextDecoder().decode(data));
}

/**
 * Writes to standard error and ignores failures. Nobody is left to be informed, and a run must not end because it has
 * no reader.
 */
export function writeError(text: string): void {
  try {
    writeStandard(Deno.stderr, 2, text);
  } catch {
    // Standard error is closed, is full, or its terminal is gone. Only the exit code remains to report the problem.
  }
}

/** Prints a whole page, such as the version or help; returns the exit code. */
export function printPage(page: string): number {
  try {
    writeOutput(page);
    return Exit.ok;
  } catch (thrown) {
    if (asOutputError(thrown)?.readerGone === true) return Exit.readerGone;
    writeError(`flemma: ${thrownText(thrown)}\n`);
    return Exit.failure;
  }
}

function writeStandard(stream: Writer, descriptor: number, data: Uint8Array | string): void {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  if (isNonBlocking(descriptor)) writePatiently(stream, bytes);
  else writeTo(stream, bytes);
}

interface Writer {
  writeSync(bytes: Uint8Array): number;
}

/** Writes all of the data. Throws on failure. */
export function writeTo(stream: Writer, data: Uint8Array | string): void {
  writeAllSync(stream, typeof data === "string" ? new TextEncoder().encode(data) : data);
}

/** Size of the runtime's write buffer for standard streams. */
const BUFFER_BYTES = 1024;

/**
 * Writes to a standard stream that another process set to non-blocking. When such a stream is full, the runtime does
 * not say how much it wrote. If a piece fits its buffer and has no line end, it wrote all of it; if the piece is a
 * lone line end, it wrote nothing. So only such pieces are written, and the buffer is flushed before the next piece.
 */
function writePatiently(stream: Writer, bytes: Uint8Array): void {
  const push = (piece: Uint8Array, taken: boolean) => {
    for (let left = piece;;) {
      try {
        stream.writeSync(left);
        return;
      } catch (thrown) {
        if (!(thrown instanceof Deno.errors.WouldBlock)) throw thrown;
        if (taken) left = new Uint8Array(0);
        block();
      }
    }
  };
  for (let at = 0; at < bytes.length;) {
    const lineEnd = bytes.indexOf(0x0a, at);
    const end = Math.min(lineEnd < 0 ? bytes.length : lineEnd, at + BUFFER_BYTES - 1);
    if (end > at) push(bytes.subarray(at, end), true);
    if (end === lineEnd) push(bytes.subarray(end, end + 1), false);
    at = end === lineEnd ? end + 1 : end;
  }
}

/** The flag O_NONBLOCK, as Linux shows it in fdinfo. */
const NON_BLOCKING = 0o4000;

function isNonBlocking(descriptor: number): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    return (descriptorState(descriptor).flags & NON_BLOCKING) !== 0;
  } catch {
    // The stream is closed, or there is no /proc. The code assumes a blocking stream, as nearly all are.
    return false;
  }
}

/** Returns the open flags and position of one of this process's descriptors, from /proc. Throws outside Linux. */
export function descriptorState(descriptor: number): { readonly flags: number; readonly position: number } {
  const text = Deno.readTextFileSync(`/proc/self/fdinfo/${descriptor}`);
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\d+)$`, "m").exec(text)?.[1] ?? "";
  return { flags: parseInt(field("flags"), 8), position: parseInt(field("pos"), 10) };
}

/** Blocks for a moment, as a blocking stream would. */
function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MILLISECONDS);
}

/**
 * True if standard error is the same file or pipe as standard output, so that messages would end up in the document.
 * False at a terminal, where a person sees both anyway.
 */
export function errorIsOutput(): boolean {
  if (Deno.stdout.isTerminal()) return false;
  const output = statDescriptor(1);
  const error = statDescriptor(2);
  return output !== null && error !== null && output.dev === error.dev && output.ino === error.ino;
}

/**
 * Returns the kind of standard input. `nothing` means that it is closed, a directory, or a device such as `/dev/null`.
 */
export function inputKind(): "terminal" | "nothing" | "file" | "stream" {
  if (Deno.stdin.isTerminal()) return "terminal";
  const info = statDescriptor(0);
  if (info === null || info.isCharDevice || info.isDirectory) return "nothing";
  return info.isFile ? "file" : "stream";
}

/** Reads a regular file on standard input through its path, without consuming standard input. */
export function peekInputFile(): Uint8Array {
  return Deno.readFileSync(descriptorPath(0));
}

function statDescriptor(descriptor: number): Deno.FileInfo | null {
  try {
    return Deno.statSync(descriptorPath(descriptor));
  } catch {
    // The descriptor is closed, or the system has no such directory, so there is nothing to compare.
    return null;
  }
}

/** Returns the path under which this process can open one of its descriptors again. */
export function descriptorPath(descriptor: number): string {
  return Deno.build.os === "linux" ? `/proc/self/fd/${descriptor}` : `/dev/fd/${descriptor}`;
}
