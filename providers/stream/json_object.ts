// Checks whether a text that arrives in parts is a JSON object without decoding it. Memory use depends only on the
// nesting depth.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** What may come next outside a token, or the kind of the current token. */
type State =
  | "begin"
  | "value"
  | "valueOrEnd"
  | "key"
  | "keyOrEnd"
  | "colon"
  | "after"
  | "done"
  | "string"
  | "escape"
  | "hex"
  | "number"
  | "word"
  | "wrong";

/** States of a number, with the next state for each kind of character. */
const NUMBER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  minus: { zero: "zero", digit: "whole" },
  zero: { point: "point", e: "e" },
  whole: { zero: "whole", digit: "whole", point: "point", e: "e" },
  point: { zero: "fraction", digit: "fraction" },
  fraction: { zero: "fraction", digit: "fraction", e: "e" },
  e: { zero: "exponent", digit: "exponent", plus: "sign", minus: "sign" },
  sign: { zero: "exponent", digit: "exponent" },
  exponent: { zero: "exponent", digit: "exponent" },
};

/** States in which a number may end. */
const COMPLETE: ReadonlySet<string> = new Set(["zero", "whole", "fraction", "exponent"]);

const WORDS: ReadonlyMap<number, string> = new Map(["true", "false", "null"].map((word) => [
  word.charCodeAt(0),
  word,
]));

/** Reads a text part by part. Accepts what `JSON.parse` accepts, if it is an object. */
export class JsonObjectReader {
  readonly #compact: boolean;
  #state: State = "begin";
  #isKey = false;
  #hexLeft = 0;
  #number = "";
  #word = "";
  /** Enclosing containers: true for objects, false for arrays. */
  readonly #around: boolean[] = [];

  /**
   * Creates a reader. `compact` removes whitespace between tokens from the output; otherwise only whitespace around
   * the object is removed.
   */
  constructor({ compact }: { readonly compact: boolean }) {
    this.#compact = compact;
  }

  get isWhole(): boolean {
    return this.#state === "done";
  }

  /** Reads the next part and returns it without the removed whitespace. */
  read(part: string): string {
    const kept: string[] = [];
    let from = 0;
    for (let at = 0; at < part.length && this.#state !== "wrong";) {
      if (this.#state === "string") {
        at = this.#inString(part, at);
        continue;
      }
      const code = part.charCodeAt(at);
      if (this.#leavesOut(part, at, code)) {
        kept.push(part.slice(from, at));
        from = at + 1;
      }
      this.#take(code, part, at);
      at++;
    }
    return from === 0 ? part : kept.join("") + part.slice(from);
  }

  /** Advances to the end of a string, or to an escape in it. */
  #inString(part: string, from: number): number {
    for (let at = from; at < part.length; at++) {
      const code = part.charCodeAt(at);
      if (code === QUOTE) {
        this.#state = this.#isKey ? "colon" : "after";
        return at + 1;
      }
      if (code === BACKSLASH || code < 0x20) {
        this.#state = code === BACKSLASH ? "escape" : "wrong";
        return at + 1;
      }
    }
    return part.length;
  }

  #leavesOut(part: string, at: number, code: number): boolean {
    if (this.#state === "begin" || this.#state === "done") return part.charAt(at).trim() === "";
    return this.#compact && isBlank(code) && !IN_TOKEN.has(this.#state);
  }

  #take(code: number, part: string, at: number): void {
    switch (this.#state) {
      case "escape":
        this.#hexLeft = 4;
        this.#state = code === 0x75 ? "hex" : isEscape(code) ? "string" : "wrong";
        return;
      case "hex":
        if (!isHex(code)) this.#state = "wrong";
        else if (--this.#hexLeft === 0) this.#state = "string";
        return;
      case "word":
        if (code !== this.#word.charCodeAt(0)) this.#state = "wrong";
        else {
          this.#word = this.#word.slice(1);
          if (this.#word === "") this.#state = "after";
        }
        return;
      case "number":
        return this.#inNumber(code, part, at);
      default:
        return this.#between(code, part, at);
    }
  }

  #inNumber(code: number, part: string, at: number): void {
    const next = NUMBER[this.#number]![kindOf(code)];
    if (next !== undefined) {
      this.#number = next;
      return;
    }
    this.#state = COMPLETE.has(this.#number) ? "after" : "wrong";
    if (this.#state === "after") this.#between(code, part, at);
  }

  #between(code: number, part: string, at: number): void {
    const state = this.#state;
    if (state === "begin" || state === "done") {
      if (part.charAt(at).trim() === "") return;
      if (state === "begin" && code === OPEN_BRACE) this.#open(true);
      else this.#state = "wrong";
      return;
    }
    if (isBlank(code)) return;
    if (state === "colon") this.#state = code === COLON ? "value" : "wrong";
    else if (state === "after") this.#afterValue(code);
    else if (state === "key" || state === "keyOrEnd") {
      if (code === QUOTE) this.#string(true);
      else if (code === CLOSE_BRACE && state === "keyOrEnd") this.#close();
      else this.#state = "wrong";
    } else if (code === CLOSE_LIST && state === "valueOrEnd") this.#close();
    else this.#value(code);
  }

  #afterValue(code: number): void {
    const inObject = this.#around.at(-1) === true;
    if (code === COMMA) this.#state = inObject ? "key" : "value";
    else if (code === (inObject ? CLOSE_BRACE : CLOSE_LIST)) this.#close();
    else this.#state = "wrong";
  }

  #value(code: number): void {
    const word = WORDS.get(code);
    if (code === QUOTE) this.#string(false);
    else if (code === OPEN_BRACE || code === OPEN_LIST) this.#open(code === OPEN_BRACE);
    else if (word !== undefined) {
      this.#word = word.slice(1);
      this.#state = "word";
    } else {
      const kind = kindOf(code);
      const begun = kind === "minus" || kind === "zero" ? kind : kind === "digit" ? "whole" : null;
      if (begun !== null) this.#number = begun;
      this.#state = begun === null ? "wrong" : "number";
    }
  }

  #string(isKey: boolean): void {
    this.#isKey = isKey;
    this.#state = "string";
  }

  #open(isObject: boolean): void {
    this.#around.push(isObject);
    this.#state = isObject ? "keyOrEnd" : "valueOrEnd";
  }

  #close(): void {
    this.#around.pop();
    this.#state = this.#around.length === 0 ? "done" : "after";
  }
}

/**
 * States in which whitespace is part of the token, or an error. Numbers are not among them, because whitespace ends a
 * number.
 */
const IN_TOKEN: ReadonlySet<State> = new Set(["string", "escape", "hex", "word"]);

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isEscape(code: number): boolean {
  return '"\\/bfnrt'.includes(String.fromCharCode(code));
}

function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}

function kindOf(code: number): string {
  if (code === 0x30) return "zero";
  if (code > 0x30 && code <= 0x39) return "digit";
  if (code === 0x2d) return "minus";
  if (code === 0x2b) return "plus";
  if (code === 0x2e) return "point";
  return code === 0x65 || code === 0x45 ? "e" : "none";
}
