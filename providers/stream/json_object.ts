// Whether a text that comes in parts is a JSON object, told without decoding it: an input of any length takes no memory but
// for its depth.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** What may come next outside of a token; or the token that is open. */
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

/** Beginnings of a number, and what may go on from each: by the kind of character, the next one. */
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

/** Beginnings that are a number already. */
const COMPLETE: ReadonlySet<string> = new Set(["zero", "whole", "fraction", "exponent"]);

const WORDS: ReadonlyMap<number, string> = new Map(["true", "false", "null"].map((word) => [
  word.charCodeAt(0),
  word,
]));

/** Reads a text part by part. It takes what `JSON.parse` takes, as long as that is an object. */
export class JsonObjectReader {
  readonly #compact: boolean;
  #state: State = "begin";
  /** Whether the string that is open is a key. */
  #isKey = false;
  #hexLeft = 0;
  #number = "";
  /** What is left of a word. */
  #word = "";
  /** The objects (true) and lists around. */
  readonly #around: boolean[] = [];

  /** With `compact` blanks between tokens are left out of what is given back; without, those before and behind the object. */
  constructor({ compact }: { readonly compact: boolean }) {
    this.#compact = compact;
  }

  /** Whether what came is a whole object. */
  get isWhole(): boolean {
    return this.#state === "done";
  }

  /** Reads on; gives back the part without the blanks that are left out. */
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

  /** Goes on to the end of a string, or to an escape in it. */
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

  /** A character outside of every token. */
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

/** States within a token, in which a blank belongs to it or is wrong. A number ends at one. */
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

/** The kind of a character in a number; any other is "none". */
function kindOf(code: number): string {
  if (code === 0x30) return "zero";
  if (code > 0x30 && code <= 0x39) return "digit";
  if (code === 0x2d) return "minus";
  if (code === 0x2b) return "plus";
  if (code === 0x2e) return "point";
  return code === 0x65 || code === 0x45 ? "e" : "none";
}
