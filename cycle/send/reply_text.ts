// The text of a reply between its writer and the document: in small pieces, each of which the document may end behind.

import { endsInHalf } from "../../base/bytes.ts";
import type { LongText } from "../../base/text/long_text.ts";

/** Characters from which on text becomes a piece of its own: as bytes it goes to the disk in one step. */
const PIECE = 1 << 11;

/** Characters at the end that are kept when they were taken: more than what follows looks at. */
const KEPT_END = 1 << 10;

/** Text that grows at its end and is taken from its beginning. Nothing that was taken is held. */
export class ReplyText {
  /** What may be taken: whole pieces, in order. */
  #pieces: (string | LongText)[] = [];
  /** Characters in them. */
  #ready = 0;
  /** What was written behind them. */
  #open = "";
  /** The end of what stands before `#open`. */
  #before = "";
  /** Characters before `#open`, from the beginning of the reply. */
  #base = 0;
  /** Where text begins that must not be taken yet, in characters from the beginning of the reply. */
  #buffered: number | null = null;
  #lines = 0;

  /** Characters written so far. */
  get length(): number {
    return this.#base + this.#open.length;
  }

  /** Characters that were not taken. */
  get waiting(): number {
    return this.#ready + this.#open.length;
  }

  /** Line ends written so far. */
  get lines(): number {
    return this.#lines;
  }

  /** The last characters written, whether they were taken or not. */
  get end(): string {
    return this.#before + this.#open;
  }

  get endsLine(): boolean {
    return (this.#open === "" ? this.#before : this.#open).endsWith("\n");
  }

  /** Whether the end must not be taken yet. */
  get isBuffered(): boolean {
    return this.#buffered !== null;
  }

  write(text: string): void {
    this.#open += text;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#lines++;
  }

  /** Writes a text, a long one as a piece of its own. Nothing may be held then. */
  add(text: string | LongText): void {
    if (typeof text === "string") return this.write(text);
    this.#cut(this.#open.length);
    this.#lines += text.lines;
    this.#base += text.length;
    this.#ready += text.length;
    this.#before = text.end;
    this.#pieces.push(text);
  }

  /** From `position` on nothing is taken until `release`; what is a piece already stays one. */
  hold(position: number): void {
    this.#buffered = position;
  }

  release(): void {
    this.#buffered = null;
  }

  /** Says that the document may end here. */
  settle(): void {
    if (this.#open.length >= PIECE) this.#cut(this.#settled());
  }

  /** All pieces that may be written by now; they are forgotten. */
  take(): readonly (string | LongText)[] {
    this.#cut(this.#settled());
    return this.#taken();
  }

  /** All that was written and not taken. */
  takeAll(): readonly (string | LongText)[] {
    this.#cut(this.#open.length);
    return this.#taken();
  }

  /** How much of `#open` may be taken: not what is held, nor the first half of a character. */
  #settled(): number {
    if (this.#buffered !== null) return Math.max(0, this.#buffered - this.#base);
    return endsInHalf(this.#open) ? this.#open.length - 1 : this.#open.length;
  }

  /** Makes the first characters of `#open` a piece. */
  #cut(length: number): void {
    if (length === 0) return;
    const piece = this.#open.slice(0, length);
    this.#pieces.push(piece);
    this.#ready += length;
    this.#base += length;
    this.#open = this.#open.slice(length);
    this.#before = (length < KEPT_END ? this.#before + piece : piece).slice(-KEPT_END);
  }

  #taken(): readonly (string | LongText)[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#ready = 0;
    return pieces;
  }
}
