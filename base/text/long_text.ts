// Stores a text that arrives in pieces and may become very long. The text is stored once, as UTF-8; a string and its
// parts would take several times the memory.

import { endsInHalf } from "../bytes.ts";

/** Number of characters up to which a text is stored as a string. */
const SHORT = 1 << 20;

/** Number of characters in each part of a long text. */
const TOGETHER = 1 << 14;

/** Number of characters that `end` returns. */
const KEPT_END = 1 << 10;

const LF = 0x0a;

const encoder = new TextEncoder();
// A byte order mark inside a text is a character like any other.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A text that grows. Iterating consumes it: each part is returned once and then released, so that it can be stored
 * elsewhere without being in memory twice.
 */
export class LongText implements Iterable<string> {
  /** The text before `#open`, encoded, in whole characters. */
  readonly #parts: Uint8Array[] = [];
  #open = "";
  #length = 0;

  /** Wraps a long text; returns a short one unchanged. */
  static of(text: string | LongText): string | LongText {
    if (typeof text !== "string") return text.value;
    if (text.length <= SHORT) return text;
    const long = new LongText();
    long.add(text);
    return long;
  }

  /** Number of characters (UTF-16 units) that were added. */
  get length(): number {
    return this.#length;
  }

  /** The text as a string if it is short, else this object. */
  get value(): string | LongText {
    return this.#parts.length === 0 && this.#open.length <= SHORT ? this.#open : this;
  }

  /** Number of line ends in the text. */
  get lines(): number {
    let count = 0;
    for (const part of this.#parts) {
      for (let at = part.indexOf(LF); at >= 0; at = part.indexOf(LF, at + 1)) count++;
    }
    for (let at = this.#open.indexOf("\n"); at >= 0; at = this.#open.indexOf("\n", at + 1)) count++;
    return count;
  }

  /** The last characters of the text. */
  get end(): string {
    const last = this.#open.length >= KEPT_END ? undefined : this.#parts.at(-1);
    return ((last === undefined ? "" : decoder.decode(last)) + this.#open).slice(-KEPT_END);
  }

  /** Appends a text. */
  add(text: string): void {
    this.#length += text.length;
    this.#open += text;
    if (this.#open.length > (this.#parts.length === 0 ? SHORT : TOGETHER)) this.#encode();
  }

  /** Inserts a text at the beginning. */
  prepend(text: string): void {
    this.#length += text.length;
    if (this.#parts.length === 0) this.#open = text + this.#open;
    else this.#parts.unshift(encoder.encode(text));
  }

  /** Replaces each part with the result of `change`, in order. Unchanged parts are not encoded again. */
  rewrite(change: (part: string) => string): void {
    this.#length = 0;
    for (const [index, part] of this.#parts.entries()) {
      const before = decoder.decode(part);
      const after = change(before);
      if (after !== before) this.#parts[index] = encoder.encode(after);
      this.#length += after.length;
    }
    this.#open = change(this.#open);
    this.#length += this.#open.length;
  }

  /** Returns the text in parts, which may end anywhere except inside a character. */
  *parts(): Generator<string> {
    for (const part of this.#parts) yield decoder.decode(part);
    if (this.#open !== "") yield this.#open;
  }

  /** Returns the parts from the beginning; each is removed as it is returned. */
  *[Symbol.iterator](): Generator<string> {
    for (const part of this.taken()) yield decoder.decode(part);
  }

  /** Consumes the text as UTF-8, in parts that end at line ends if the lines are not too long. */
  *taken(): Generator<Uint8Array> {
    this.#parts.reverse();
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) yield part;
    const open = this.#open;
    this.#open = "";
    if (open !== "") yield encoder.encode(open);
  }

  /** Returns the whole text as one string. */
  toString(): string {
    return [...this.parts()].join("");
  }

  #encode(): void {
    let at = 0;
    while (this.#open.length - at > TOGETHER) {
      const line = this.#open.lastIndexOf("\n", at + TOGETHER - 1) + 1;
      const part = this.#open.slice(at, line > at ? line : at + TOGETHER);
      const whole = endsInHalf(part) ? part.slice(0, -1) : part;
      this.#parts.push(encoder.encode(whole));
      at += whole.length;
    }
    this.#open = this.#open.slice(at);
  }
}

/** Returns the parts of a text, whether it is long or not. */
export function partsOf(text: string | LongText): Iterable<string> {
  return typeof text === "string" ? [text] : text.parts();
}
