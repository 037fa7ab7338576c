// Writes texts and questions of a review to the terminal, within its width.

import type { Problem } from "../../../base/problem.ts";
import { visible } from "../../../base/visible.ts";
import { colorize, sentence, type TerminalFormat } from "../../../render/terminal/lines.ts";
import type { PressedKey } from "./keys.ts";
import type { Tty } from "./tty.ts";

export class ReviewView {
  readonly #tty: Tty;

  constructor(tty: Tty) {
    this.#tty = tty;
  }

  get format(): TerminalFormat {
    return { width: this.#tty.size().columns, colors: this.#tty.colors };
  }

  /** Shows the available keys and waits for one. */
  async ask(keys: string, question: string): Promise<PressedKey | null> {
    const offered = wrappedKeys(keys, this.format.width).map((line) =>
      `${colorize(line, "dim", this.format)}\n`
    );
    const key = await this.#tty.key(`${offered.join("")}${question}`);
    this.#tty.write(`${key !== null && key.length === 1 ? key : ""}\n`);
    return key;
  }

  /** Writes a text wrapped to the terminal's width, with control characters made visible. */
  say(text: string, color: "dim" | "yellow" | null = null): void {
    for (const line of sentence(visible(text), this.format.width)) {
      this.#tty.write(`${color === null ? line : colorize(line, color, this.format)}\n`);
    }
  }

  /** Reports a problem and what to do next. */
  tell({ message, next }: Problem): void {
    this.say(message, "yellow");
    if (next !== undefined) this.say(next);
  }

  /** Writes lines unchanged; they are already formatted for this terminal. */
  show(lines: readonly string[]): void {
    this.#tty.write(lines.map((line) => `${line}\n`).join(""));
  }

  /** Returns how many of `lines` fit above the question and its keys; at least 3. */
  room(lines: number, keys: string): number {
    const { rows, columns } = this.#tty.size();
    const asked = wrappedKeys(keys, columns).length + 1;
    return Math.max(Math.min(lines, rows - asked - 1), 3);
  }
}

/** Wraps the list of keys without breaking an entry. */
function wrappedKeys(keys: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of keys.split("  ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 2 + word.length <= width) {
      lines[lines.length - 1] = `${last}  ${word}`;
    } else lines.push(word);
  }
  return lines;
}
