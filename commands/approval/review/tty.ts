// The terminal of a dialogue: its size, keys, a typed line, and programs that take it over.

import { writeOutput } from "../../io/streams.ts";
import { extendLine, INTERRUPT, type PressedKey, readKey, type TypedLine } from "./keys.ts";
import { forgetTyped } from "../../../base/system/libc.ts";
import { suspend } from "../../../base/system/suspend.ts";
import { visible } from "../../../base/visible.ts";
import { displayWidth } from "../../../base/width.ts";

export interface Tty {
  readonly colors: boolean;
  size(): { readonly columns: number; readonly rows: number };
  write(text: string): void;
  /**
   * Shows a question and waits for a key; drops input that was typed before the question. Null if the terminal is
   * gone.
   */
  key(question: string): Promise<PressedKey | null>;
  /** Lets the person edit a line that starts as `text`; null if they cancel. */
  line(question: string, text: string): Promise<string | null>;
  /** Gives the terminal to a program while it runs. */
  lend(run: () => Promise<void>): Promise<void>;
}

/** The terminal of standard input and standard output, in raw mode until `close`. */
export class ProcessTty implements Tty {
  readonly colors: boolean;
  readonly #plain: boolean;
  readonly #signal: AbortSignal;

  /**
   * Switches the terminal to raw mode.
   *
   * @param signal aborting it counts as Ctrl-C
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
      // The terminal is gone, so it needs no restoring.
    }
  }

  size(): { readonly columns: number; readonly rows: number } {
    try {
      const { columns, rows } = Deno.consoleSize();
      // A terminal whose size was never set reports 0.
      return { columns: columns || 80, rows: rows || 24 };
    } catch {
      return { columns: 80, rows: 24 };
    }
  }

  write(text: string): void {
    writeOutput(text);
  }

  async key(question: string): Promise<PressedKey | null> {
    await drain();
    this.write(question);
    let read = await this.#read();
    while (isSuspend(read)) {
      await this.lend(suspend);
      await drain();
      this.write(`\n${question}`);
      read = await this.#read();
    }
    return read === "interrupted" ? INTERRUPT : read === null ? null : readKey(read);
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
      line = extendLine(line, read);
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

  /** Redraws the line; if it is too long, shows its end, where the person types. */
  #redraw(question: string, text: string): void {
    if (this.#plain) return;
    const room = Math.max(this.size().columns - displayWidth(question) - 1, 8);
    let shown = visible(text);
    while (displayWidth(shown) > room) shown = `…${[...shown].slice(2).join("")}`;
    this.write(`\r\x1b[K${question}${shown}`);
  }

  /** Returns the next input; null if the terminal is gone. */
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
      // The terminal was closed.
      return null;
    } finally {
      this.#signal.removeEventListener("abort", stop);
    }
  }
}

/** True if the person pressed Ctrl-Z. Input typed in their shell must not decide anything here. */
function isSuspend(read: Uint8Array | "interrupted" | null): boolean {
  return read instanceof Uint8Array && read.length === 1 && read[0] === CTRL_Z;
}

const CTRL_Z = 26;

/** Discards typed input that was not read yet. */
async function drain(): Promise<void> {
  // An older Deno cannot open a file in non-blocking mode and would wait for input here.
  if (forgetTyped()) return;
  const { closeSync, constants, openSync, readSync } = await import("node:fs");
  let file: number;
  try {
    file = openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    // This process has no controlling terminal; input from another terminal still arrives key by key.
    return;
  }
  try {
    const buffer = new Uint8Array(1024);
    while (readSync(file, buffer) > 0);
  } catch {
    // Nothing more can be read.
  } finally {
    closeSync(file);
  }
}
