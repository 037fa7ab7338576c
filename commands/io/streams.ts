// The three standard streams: reading all of the input, writing all of the output, and what the three are.

import { concat, MOST_TEXT_BYTES } from "../../base/bytes.ts";
import { thrownText } from "../../base/problem.ts";
import { visible } from "../../base/visible.ts";
import { Exit } from "./exit.ts";

/** Milliseconds between two tries on a stream that somebody set to non-blocking. */
const RETRY_MILLISECONDS = 2;

/** Standard input as far as it was read. */
export interface Input {
  readonly bytes: Uint8Array;
  /** False when it holds more than a document may. */
  readonly complete: boolean;
}

/**
 * Standard input, read once. One object for a run: the program is shipped in pieces that share no variables, and whoever
 * reads input has to give it back.
 */
export class StandardInput {
  #first: Uint8Array = new Uint8Array(0);
  #whole: Input | null = null;
  #taken = false;

  /** Whether anything was read. */
  get taken(): boolean {
    return this.#taken;
  }

  /** All of it. Throws on failure. */
  read(): Input {
    this.#taken = true;
    return this.#whole ??= readInput(this.#first);
  }

  /** Whether bytes come within `wait` milliseconds; they are kept for `read`. Throws on failure. */
  async comes(wait: number): Promise<boolean> {
    const first = await firstInput(wait);
    if (first === null || first.length === 0) return false;
    this.#taken = true;
    this.#first = first;
    return true;
  }
}

/** Reads standard input to its end; `first` was read from it before. */
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

/** The first bytes of standard input, none at its end, or null when none came within `wait` milliseconds. */
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
        pause();
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Copies what is left of standard input to standard output. */
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
      pause();
    }
  }
}

/**
 * Standard output could not be written: its reader is gone, or the disk behind it is full. Known by its name
 * (`asOutputError`), since the pieces in which the program is shipped have classes of their own.
 */
export class OutputError extends Error {
  override readonly name = "OutputError";
  /** Nobody reads any more. A report ends then without a word, as other programs of a pipe do. */
  readonly readerGone: boolean;

  constructor(cause: unknown) {
    const readerGone = cause instanceof Deno.errors.BrokenPipe;
    super(
      readerGone
        ? "Nobody reads standard output any more."
        : `Standard output cannot be written: ${thrownText(cause)}.`,
      { cause },
    );
    this.readerGone = readerGone;
  }
}

/** What was thrown as an `OutputError`; null when it is something else. */
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

/** Writes lines that a person reads: whatever a model or a stranger put into them, nothing acts on the terminal. */
export function writeLines(text: string): void {
  writeOutput(visible(text, { lines: true }));
}

/**
 * Writes what a file or another program takes as it is, byte for byte. At a terminal, where it only is looked at, nothing
 * in it acts on that.
 */
export function writeData(data: Uint8Array | string): void {
  if (!Deno.stdout.isTerminal()) writeOutput(data);
  else writeLines(typeof data === "string" ? data : new TextDecoder().decode(data));
}

/** Writes to standard error. When that fails nobody is left to be told, and a run must not end for lack of listeners. */
export function writeError(text: string): void {
  try {
    writeStandard(Deno.stderr, 2, text);
  } catch {
    // Closed, full, or its terminal is gone: the exit code is what remains.
  }
}

/** Prints a text that stands for itself, a version or a page of help; answers with the exit code. */
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

/** Something bytes can be written to at once. */
interface Writer {
  writeSync(bytes: Uint8Array): number;
}

/** Writes all of it. Throws on failure. */
export function writeTo(stream: Writer, data: Uint8Array | string): void {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  for (let written = 0; written < bytes.length;) written += stream.writeSync(bytes.subarray(written));
}

/** Bytes that the runtime takes into its buffer of a standard stream before it writes. */
const BUFFER_BYTES = 1024;

/**
 * Writes to a standard stream that whoever shares it set to non-blocking. When such a stream is full, the runtime does
 * not say how much it took: of a piece without a line end that fits into its buffer all, of a line end alone nothing.
 * So exactly these two are written, and what is in the buffer is pushed on before the next.
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
        pause();
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

/** O_NONBLOCK in the flags that Linux shows. */
const NON_BLOCKING = 0o4000;

function isNonBlocking(descriptor: number): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    return (descriptorState(descriptor).flags & NON_BLOCKING) !== 0;
  } catch {
    // Closed, or no /proc in this place: a plain stream is what nearly all are.
    return false;
  }
}

/** How one of this process's descriptors was opened and where it stands, as Linux shows it. Throws elsewhere. */
export function descriptorState(descriptor: number): { readonly flags: number; readonly position: number } {
  const text = Deno.readTextFileSync(`/proc/self/fdinfo/${descriptor}`);
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\d+)$`, "m").exec(text)?.[1] ?? "";
  return { flags: parseInt(field("flags"), 8), position: parseInt(field("pos"), 10) };
}

/** Waits a moment, as a blocking stream would. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MILLISECONDS);
}

/**
 * Whether standard error is the same file or pipe as standard output: then a message would land in the document.
 * A terminal is no such place; there both are shown to a person anyway.
 */
export function errorIsOutput(): boolean {
  if (Deno.stdout.isTerminal()) return false;
  const output = statDescriptor(1);
  const error = statDescriptor(2);
  return output !== null && error !== null && output.dev === error.dev && output.ino === error.ino;
}

/** What standard input is: `nothing` is closed, or a device such as `/dev/null`. */
export function inputKind(): "terminal" | "nothing" | "file" | "stream" {
  if (Deno.stdin.isTerminal()) return "terminal";
  const info = statDescriptor(0);
  if (info === null || info.isCharDevice || info.isDirectory) return "nothing";
  return info.isFile ? "file" : "stream";
}

/** What a regular file on standard input holds, read beside it: nothing is taken from standard input. */
export function peekInputFile(): Uint8Array {
  return Deno.readFileSync(descriptorPath(0));
}

function statDescriptor(descriptor: number): Deno.FileInfo | null {
  try {
    return Deno.statSync(descriptorPath(descriptor));
  } catch {
    // Closed, or a system without such a folder: there is nothing to compare.
    return null;
  }
}

/** The path under which this process can open one of its own descriptors anew. */
export function descriptorPath(descriptor: number): string {
  return Deno.build.os === "linux" ? `/proc/self/fd/${descriptor}` : `/dev/fd/${descriptor}`;
}
