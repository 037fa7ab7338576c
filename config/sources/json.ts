// Parsing of JSON frontmatter with positions, so that every fault has its line; duplicate keys are errors.

import { MOST_LEVELS } from "../schema/check.ts";
import type { SettingFault } from "../types.ts";
import { failed, success, thrownText } from "../../base/problem.ts";
import type { Parsed } from "./yaml.ts";

/** Parses JSON. Reports syntax errors, duplicate keys and excessive nesting with their positions. */
export function parseJson(text: string): Parsed {
  const scanner = new Scanner(text);
  const wrong = scanner.scan();
  const places = wrong === null ? scanner.twice : [wrong];
  if (places.length > 0) {
    return failed(places.map(({ at, message }) => ({ ...positionOf(text, at), message })));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    // The scanner should find every error; if it misses one, the parser decides.
    return failed([{ ...positionOf(text, 0), message: thrownText(thrown) }]);
  }
  const place = ({ written = [] }: SettingFault): string => {
    for (let depth = written.length; depth > 0; depth--) {
      const at = scanner.keys.get(keyOf(written.slice(0, depth)));
      if (at !== undefined) return positionOf(text, at).place;
    }
    return "1:1";
  };
  const keys = () => [...scanner.keys.keys()].map((path) => JSON.parse(path) as string[]);
  return success({ value, place, keys });
}

interface Finding {
  readonly at: number;
  readonly message: string;
}

/** Ends the scan at the first error. */
class Broken extends Error {
  constructor(readonly finding: Finding) {
    super(finding.message);
  }
}

const STRING = /"(?:[^"\\]+|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
/** Control characters that must be escaped in a string: the first 32 characters. */
const CONTROL = /[^\P{Cc}\x7f-\x9f]/u;
const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const SPACE = /[ \t\r\n]*/y;

class Scanner {
  /** Offsets of keys, by path. */
  readonly keys = new Map<string, number>();
  readonly twice: Finding[] = [];
  readonly #text: string;
  readonly #path: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): Finding | null {
    try {
      this.#value(0);
      if (this.#at < this.#text.length) this.#unexpected();
      return null;
    } catch (thrown) {
      if (thrown instanceof Broken) return thrown.finding;
      throw thrown;
    }
  }

  #value(level: number): void {
    if (level > MOST_LEVELS) {
      throw new Broken({ at: this.#at, message: `values are nested more than ${MOST_LEVELS} deep` });
    }
    this.#take(SPACE);
    const open = this.#text[this.#at];
    if (open === "{" || open === "[") this.#inside(open === "{", level);
    else if (open === '"') this.#string();
    else if (this.#take(LITERAL) === null) this.#unexpected();
    this.#take(SPACE);
  }

  /** Scans the content between brackets. */
  #inside(isObject: boolean, level: number): void {
    const close = isObject ? "}" : "]";
    this.#at++;
    this.#take(SPACE);
    if (this.#text[this.#at] === close) this.#at++;
    else {
      for (let more = true, index = 0; more; index++) {
        if (isObject) this.#key();
        else this.#path.push(String(index));
        this.#value(level + 1);
        this.#path.pop();
        more = this.#text[this.#at] === ",";
        if (!more && this.#text[this.#at] !== close) this.#unexpected();
        this.#at++;
      }
    }
  }

  #key(): void {
    this.#take(SPACE);
    const at = this.#at;
    const name: string = JSON.parse(this.#string());
    this.#path.push(name);
    const key = keyOf(this.#path);
    if (this.keys.has(key)) {
      this.twice.push({ at, message: `the key ${JSON.stringify(name.slice(0, 80))} occurs twice` });
    } else this.keys.set(key, at);
    this.#take(SPACE);
    if (this.#text[this.#at] !== ":") this.#unexpected();
    this.#at++;
  }

  #string(): string {
    const from = this.#at;
    const written = this.#take(STRING);
    if (written === null) this.#unexpected();
    const control = CONTROL.exec(written);
    if (control !== null) {
      const name = control[0] === "\n" ? "a line break" : "a control character";
      throw new Broken({ at: from + control.index, message: `a string cannot contain ${name}` });
    }
    return written;
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) return null;
    this.#at += found.length;
    return found;
  }

  #unexpected(): never {
    const found = /[^\s]+/u.exec(this.#text.slice(this.#at, this.#at + 20))?.[0];
    const message = found === undefined ? "it ends too early" : `unexpected ${JSON.stringify(found)}`;
    throw new Broken({ at: Math.min(this.#at, this.#text.length), message });
  }
}

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path);
}

function positionOf(text: string, at: number): { readonly place: string; readonly line: number } {
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  return { place: `${line}:${at - before.lastIndexOf("\n")}`, line };
}
