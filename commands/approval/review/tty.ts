// The terminal that a dialogue is held on: its size, its keys, one line typed at it, and a program that takes it over.

import { writeOutput } from "../../io/streams.ts";
import { INTERRUPT, type Key, keyOf, typed, type TypedLine } from "./keys.ts";
import { forgetTyped } from "../../../base/system/libc.ts";
import { suspend } from "../../../base/system/suspend.ts";
import { visible } from "../../../base/visible.ts";
import { displayWidth } from "../../../base/width.ts";

/** What a dialogue needs of a terminal. */
export interface Tty {
  readonly colors: boolean;
  size(): { readonly columns: number; readonly rows: number };
  write(text: string): void;
  /** Shows a question and waits for a key; nothing that was typed before counts. Null when the terminal is gone. */
  key(question: string): Promise<Key | null>;
  /** Lets the person type a line that begins with `text`; null when they leave it. */
  line(question: string, text: string): Promise<string | null>;
  /** Gives the terminal to a program while it runs. */
  lend(run: () => Promise<void>): Promise<void>;
}

/** The terminal of standard input and standard output, each key for itself until `close`. */
export class ProcessTty implements Tty {
  readonly colors: boolean;
  readonly #plain: boolean;
  readonly #signal: AbortSignal;

  /**
   * Takes the terminal over.
   *
   * @param signal aborting it is as if the person pressed Ctrl-C
   */
  constructor(variables: Readonly<Record<string, string | undefined>>, signal: AbortSignal) {
    this.#plain = variables.TERM === "dumb";
    this.colors = !this.#plain && (variables.NO_COLOR ?? "") === "";
    this.#signal = signal;
    Deno.stdin.setRaw(true);
  }

  close(): void {
    try {
      Deno.stdin.setRaw(false);
    } catch {
      // A terminal that is gone needs no care.
    }
  }

  size(): { readonly columns: number; readonly rows: number } {
    try {
      const { columns, rows } = Deno.consoleSize();
      // One that was never told its size says 0.
      return { columns: columns || 80, rows: rows || 24 };
    } catch {
      return { columns: 80, rows: 24 };
    }
  }

  write(text: string): void {
    writeOutput(text);
  }

  async key(question: string): Promise<Key | null> {
    await drain();
    this.write(question);
    let read = await this.#read();
    while (isSuspend(read)) {
      await this.lend(suspend);
      await drain();
      this.write(`\n${question}`);
      read = await this.#read();
    }
    return read === "interrupted" ? INTERRUPT : read === null ? null : keyOf(read);
  }

  async line(question: string, text: string): Promise<string | null> {
    await drain();
    let line: TypedLine = { text, state: "typing" };
    this.write(`${question}${visible(text)}`);
    while (line.state === "typing") {
      const read = await this.#read();
      if (read === null || read === "interrupted") return this.#over(null);
      if (isSuspend(read)) {
        await this.lend(suspend);
        await drain();
        this.write(`\n${question}${visible(line.text)}`);
        continue;
      }
      line = typed(line, read);
      this.#redraw(question, line.text);
    }
    return this.#over(line.state === "done" ? line.text : null);
  }

  async lend(run: () => Promise<void>): Promise<void> {
    Deno.stdin.setRaw(false);
    try {
      await run();
    } finally {
      Deno.stdin.setRaw(true);
    }
  }

  #over(text: string | null): string | null {
    this.write("\n");
    return text;
  }

  /** The end of the line, which is where the person types. */
  #redraw(question: string, text: string): void {
    if (this.#plain) return;
    const room = Math.max(this.size().columns - displayWidth(question) - 1, 8);
    let shown = visible(text);
    while (displayWidth(shown) > room) shown = `…${[...shown].slice(2).join("")}`;
    this.write(`\r\x1b[K${question}${shown}`);
  }

  /** What comes next; null when the terminal is gone. */
  async #read(): Promise<Uint8Array | "interrupted" | null> {
    if (this.#signal.aborted) return "interrupted";
    const buffer = new Uint8Array(1024);
    const { promise, resolve } = Promise.withResolvers<"interrupted">();
    const stop = () => resolve("interrupted");
    this.#signal.addEventListener("abort", stop, { once: true });
    try {
      const count = await Promise.race([Deno.stdin.read(buffer), promise]);
      return typeof count === "number" ? buffer.subarray(0, count) : count;
    } catch {
      // The other end of a terminal that was closed.
      return null;
    } finally {
      this.#signal.removeEventListener("abort", stop);
    }
  }
}

/** Whether the person wants their shell; what they type there must decide nothing here. */
function isSuspend(read: Uint8Array | "interrupted" | null): boolean {
  return read instanceof Uint8Array && read.length === 1 && read[0] === CTRL_Z;
}

const CTRL_Z = 26;

/** Throws away what was typed and not read yet. */
async function drain(): Promise<void> {
  // An older Deno opens no file that does not wait, and would read until somebody types.
  if (forgetTyped()) return;
  const { closeSync, constants, openSync, readSync } = await import("node:fs");
  let file: number;
  try {
    file = openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    // No terminal of this process: what is typed at another comes one by one all the same.
    return;
  }
  try {
    const buffer = new Uint8Array(1024);
    while (readSync(file, buffer) > 0);
  } catch {
    // Nothing more to read.
  } finally {
    closeSync(file);
  }
}
