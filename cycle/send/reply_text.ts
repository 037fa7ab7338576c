// Buffers the text of a reply between its writer and the document, in small pieces. The document may end after each
// piece.

import { endsInHalf } from "../../base/bytes.ts";
import type { LongText } from "../../base/text/long_text.ts";

/** Minimum number of characters of a separate piece. When encoded, a piece is written to disk in one step. */
const PIECE = 1 << 11;

/** Number of characters at the end that are kept after they were taken; later code looks at fewer characters. */
const KEPT_END = 1 << 10;

/** Text that grows at its end and is taken from its beginning. Taken text is not kept. */
export class ReplyText {
  /** Complete pieces that may be taken, in order. */
  #pieces: (string | LongText)[] = [];
  /** Number of characters in `#pieces`. */
  #ready = 0;
  /** Text written after `#pieces`. */
  #open = "";
  /** The end of the text before `#open`. */
  #before = "";
  /** Number of characters before `#open`, from the beginning of the reply. */
  #base = 0;
  /** Offset of text that must not be taken yet, in characters from the beginning of the reply. */
  #buffered: number | null = null;
  #lines = 0;

  get length(): number {
    return this.#base + this.#open.length;
  }

  /** Number of characters that were not taken yet. */
  get waiting(): number {
    return this.#ready + this.#open.length;
  }

  get lines(): number {
    return this.#lines;
  }

  /** The characters that were written last, whether they were taken or not. */
  get end(): string {
    return this.#before + this.#open;
  }

  get endsLine(): boolean {
    return (this.#open === "" ? this.#before : this.#open).endsWith("\n");
  }

  /** True if the end must not be taken yet. */
  get isBuffered(): boolean {
    return this.#buffered !== null;
  }

  write(text: string): void {
    this.#open += text;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#lines++;
  }

  /** Writes a text. A long text becomes a separate piece. Must not be called while text is held. */
  add(text: string | LongText): void {
    if (typeof text === "string") return this.write(text);
    this.#cut(this.#open.length);
    this.#lines += text.lines;
    this.#base += text.length;
    this.#ready += text.length;
    this.#before = text.end;
    this.#pieces.push(text);
  }

  /** Until `release`, nothing from `position` on is taken. Pieces that are already complete can still be taken. */
  hold(position: number): void {
    this.#buffered = position;
  }

  release(): void {
    this.#buffered = null;
  }

  /** Marks that the document may end here. */
  settle(): void {
    if (this.#open.length >= PIECE) this.#cut(this.#settled());
  }

  /** Returns and removes all pieces that may be written now. */
  take(): readonly (string | LongText)[] {
    this.#cut(this.#settled());
    return this.#taken();
  }

  /** Returns and removes everything that was written and not taken. */
  takeAll(): readonly (string | LongText)[] {
    this.#cut(this.#open.length);
    return this.#taken();
  }

  /**
   * Returns how many characters of `#open` may be taken. This excludes text that is held back, and the first half of a
   * surrogate pair.
   */
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
