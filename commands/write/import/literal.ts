// Reads a literal of JavaScript as data: objects, lists, strings, numbers. Nothing is run, so nothing else can be read.

/** Where and why a text is no literal. */
export class LiteralFault extends Error {
  /** Line in the text, 1-based. */
  readonly line: number;

  constructor(text: string, at: number, message: string) {
    super(message);
    this.line = text.slice(0, at).split("\n").length;
  }
}

/** The value that begins at `from` in a text. Throws a `LiteralFault`. */
export function readLiteral(text: string, from: number): unknown {
  return new Literals(text, from).value();
}

const WORDS: Readonly<Record<string, unknown>> = {
  true: true,
  false: false,
  null: null,
  undefined: undefined,
};

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  0: "\0",
  "\n": "",
};

class Literals {
  readonly #text: string;
  #at: number;

  constructor(text: string, from: number) {
    this.#text = text;
    this.#at = from;
  }

  value(): unknown {
    this.#space();
    const first = this.#text[this.#at] ?? "";
    if (first === "{") return this.#object();
    if (first === "[") return this.#list();
    if (first !== "" && "\"'`".includes(first)) return this.#strings();
    const number = this.#take(/-?(?:0x[\da-f_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:e[+-]?\d+)?)/iy);
    if (number !== null) return Number(number.replaceAll("_", ""));
    const begun = this.#at;
    const word = this.#take(/[A-Za-z_$][\w$.]*/y) ?? "";
    if (Object.hasOwn(WORDS, word)) return WORDS[word];
    return this.#fault(word === "" ? "a value is missing here" : `${word} is no value but code`, begun);
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#at++;
    while (!this.#ends("}")) {
      const key = this.#key();
      this.#expect(":");
      // Defined rather than assigned, for names that mean something to every object.
      Object.defineProperty(object, key, {
        value: this.value(),
        enumerable: true,
        configurable: true,
        writable: true,
      });
      if (!this.#comma("}")) break;
    }
    return object;
  }

  #key(): string {
    if ("\"'".includes(this.#text[this.#at] ?? " ")) return this.#string();
    return this.#take(/[A-Za-z_$][\w$]*|\d+/y) ?? this.#fault("a name is missing here");
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    this.#at++;
    while (!this.#ends("]")) {
      list.push(this.value());
      if (!this.#comma("]")) break;
    }
    return list;
  }

  /** A string, or several that are put together with plus signs. */
  #strings(): string {
    let whole = this.#string();
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== "+") return whole;
      this.#at++;
      this.#space();
      if (!"\"'`".includes(this.#text[this.#at] ?? " ")) this.#fault("only strings can be put together");
      whole += this.#string();
    }
  }

  #string(): string {
    const begun = this.#at;
    const quote = this.#text[this.#at++];
    let value = "";
    for (;;) {
      const next = this.#text[this.#at++];
      if (next === undefined || (next === "\n" && quote !== "`")) {
        this.#fault("a string is not closed", begun);
      }
      if (next === quote) return value;
      if (next === "\\") value += this.#escape();
      else if (quote === "`" && next === "$" && this.#text[this.#at] === "{") {
        this.#fault("a string with ${…} is code", this.#at);
      } else value += next;
    }
  }

  #escape(): string {
    const code = this.#take(/u\{[\da-f]{1,6}\}|u[\da-f]{4}|x[\da-f]{2}/iy);
    if (code !== null) return String.fromCodePoint(parseInt(code.replace(/[ux{}]/gi, ""), 16));
    const next = this.#text[this.#at++] ?? "";
    return ESCAPES[next] ?? next;
  }

  /** Whether the closing sign comes, which is taken. */
  #ends(sign: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== sign) return false;
    this.#at++;
    return true;
  }

  /** Takes a comma, after which more may come; false behind the closing sign. */
  #comma(closing: string): boolean {
    if (this.#ends(closing)) return false;
    this.#expect(",");
    return true;
  }

  #expect(sign: string): void {
    this.#space();
    if (this.#text[this.#at] !== sign) this.#fault(`"${sign}" is missing here`);
    this.#at++;
  }

  #space(): void {
    while (this.#take(/\s+|\/\/[^\n]*|\/\*[^]*?\*\//y) !== null);
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    this.#at += found?.length ?? 0;
    return found;
  }

  #fault(message: string, at = this.#at): never {
    throw new LiteralFault(this.#text, at, message);
  }
}
