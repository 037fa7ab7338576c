// Matches Lua patterns under the cell's budget: every step is counted. Lua's own C code cannot be stopped once it
// backtracks. The rules are those of Lua 5.1 with `%f` and `%g`.

const MOST_CAPTURES = 32;
const MOST_DEPTH = 200;
const STEPS_PER_REPORT = 2000;

const PERCENT = 0x25;
const OPEN = 0x28;
const CLOSE = 0x29;
const STAR = 0x2a;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const QUESTION = 0x3f;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const CARET = 0x5e;
const DOLLAR = 0x24;

/** A capture: a range of the subject, or a position in it (`()`). */
export type Capture = { readonly from: number; readonly to: number } | { readonly position: number };

const UNCLOSED = -1;
const POSITION = -2;

/** A malformed pattern; the caller raises it in Lua. */
export class PatternFault extends Error {}

/** Matches one pattern against one subject. Both are ranges of the same bytes. */
export class Matcher {
  readonly #bytes: Uint8Array;
  readonly #from: number;
  readonly #to: number;
  readonly #patternFrom: number;
  readonly #patternTo: number;
  readonly #report: (steps: number) => void;
  #starts: number[] = [];
  #lengths: number[] = [];
  #depth = 0;
  #steps = 0;

  /** Creates a matcher. `report` gets the number of steps taken, and may throw to end the match. */
  constructor(
    bytes: Uint8Array,
    subject: { readonly from: number; readonly to: number },
    pattern: { readonly from: number; readonly to: number },
    report: (steps: number) => void,
  ) {
    this.#bytes = bytes;
    this.#from = subject.from;
    this.#to = subject.to;
    this.#patternFrom = pattern.from;
    this.#patternTo = pattern.to;
    this.#report = report;
  }

  /** Tries to match exactly at `at`; returns the end of the match or -1. */
  matchAt(at: number): number {
    this.#starts = [];
    this.#lengths = [];
    this.#depth = 0;
    return this.#match(at, this.#patternFrom);
  }

  /** Returns the captures of the last match. If there are none and `whole` is given, returns the match itself. */
  captures(whole?: { readonly from: number; readonly to: number }): Capture[] {
    if (this.#starts.length === 0 && whole !== undefined) return [whole];
    return this.#starts.map((_, index) => this.capture(index));
  }

  capture(index: number): Capture {
    const start = this.#starts[index];
    const length = this.#lengths[index];
    if (start === undefined || length === undefined) throw new PatternFault("invalid capture index");
    if (length === UNCLOSED) throw new PatternFault("unfinished capture");
    return length === POSITION ? { position: start - this.#from + 1 } : { from: start, to: start + length };
  }

  /** Reports the steps that were not reported yet. */
  settle(): void {
    const steps = this.#steps;
    this.#steps = 0;
    this.#report(steps);
  }

  #step(): void {
    if (++this.#steps >= STEPS_PER_REPORT) this.settle();
  }

  #byte(at: number): number {
    return this.#bytes[at]!;
  }

  #match(at: number, pattern: number): number {
    if (++this.#depth > MOST_DEPTH) throw new PatternFault("pattern too complex");
    const end = this.#matchItems(at, pattern);
    this.#depth--;
    return end;
  }

  /** Loops over the pattern, and recurses only where backtracking may be needed. */
  #matchItems(at: number, pattern: number): number {
    for (;;) {
      this.#step();
      if (pattern === this.#patternTo) return at;
      const byte = this.#byte(pattern);
      if (byte === OPEN) {
        return pattern + 1 < this.#patternTo && this.#byte(pattern + 1) === CLOSE
          ? this.#openCapture(at, pattern + 2, POSITION)
          : this.#openCapture(at, pattern + 1, UNCLOSED);
      }
      if (byte === CLOSE) return this.#closeCapture(at, pattern + 1);
      if (byte === DOLLAR && pattern + 1 === this.#patternTo) return at === this.#to ? at : -1;
      if (byte === PERCENT && pattern + 1 < this.#patternTo) {
        const next = this.#byte(pattern + 1);
        if (next === 0x62) {
          at = this.#balanced(at, pattern + 2);
          if (at < 0) return -1;
          pattern += 4;
          continue;
        }
        if (next === 0x66) {
          const set = pattern + 2;
          if (set >= this.#patternTo || this.#byte(set) !== BRACKET) {
            throw new PatternFault("missing '[' after '%f' in pattern");
          }
          const setEnd = this.#itemEnd(set);
          const before = at === this.#from ? 0 : this.#byte(at - 1);
          const here = at === this.#to ? 0 : this.#byte(at);
          if (this.#inSet(before, set, setEnd - 1) || !this.#inSet(here, set, setEnd - 1)) return -1;
          pattern = setEnd;
          continue;
        }
        if (next >= 0x30 && next <= 0x39) {
          at = this.#backReference(at, next);
          if (at < 0) return -1;
          pattern += 2;
          continue;
        }
      }
      const end = this.#itemEnd(pattern);
      const suffix = end < this.#patternTo ? this.#byte(end) : 0;
      if (suffix === STAR) return this.#expandMost(at, pattern, end, 0);
      if (suffix === PLUS) return this.#expandMost(at, pattern, end, 1);
      if (suffix === MINUS) return this.#expandLeast(at, pattern, end);
      const fits = at < this.#to && this.#single(this.#byte(at), pattern, end);
      if (suffix === QUESTION) {
        if (fits) {
          const rest = this.#match(at + 1, end + 1);
          if (rest >= 0) return rest;
        }
        pattern = end + 1;
        continue;
      }
      if (!fits) return -1;
      at++;
      pattern = end;
    }
  }

  /** Returns the offset directly after the single-character item at `pattern`. */
  #itemEnd(pattern: number): number {
    const byte = this.#byte(pattern);
    if (byte === PERCENT) {
      if (pattern + 1 >= this.#patternTo) throw new PatternFault("malformed pattern (ends with '%')");
      return pattern + 2;
    }
    if (byte !== BRACKET) return pattern + 1;
    let at = pattern + 1;
    if (at < this.#patternTo && this.#byte(at) === CARET) at++;
    // A closing bracket right after the opening one is a member of the set.
    do {
      if (at >= this.#patternTo) throw new PatternFault("malformed pattern (missing ']')");
      at += this.#byte(at) === PERCENT ? 2 : 1;
    } while (at >= this.#patternTo || this.#byte(at) !== BRACKET_END);
    return at + 1;
  }

  #single(byte: number, pattern: number, end: number): boolean {
    const item = this.#byte(pattern);
    if (item === DOT) return true;
    if (item === PERCENT) return inClass(byte, this.#byte(pattern + 1));
    if (item === BRACKET) return this.#inSet(byte, pattern, end - 1);
    return item === byte;
  }

  /** True if a byte is in a set; `set` is at the opening bracket, `close` at the closing one. */
  #inSet(byte: number, set: number, close: number): boolean {
    let at = set + 1;
    const negated = this.#byte(at) === CARET;
    if (negated) at++;
    for (; at < close; at++) {
      this.#step();
      const item = this.#byte(at);
      if (item === PERCENT) {
        at++;
        if (inClass(byte, this.#byte(at))) return !negated;
      } else if (this.#byte(at + 1) === MINUS && at + 2 < close) {
        if (item <= byte && byte <= this.#byte(at + 2)) return !negated;
        at += 2;
      } else if (item === byte) return !negated;
    }
    return negated;
  }

  #expandMost(at: number, pattern: number, end: number, least: number): number {
    let count = 0;
    while (at + count < this.#to && this.#single(this.#byte(at + count), pattern, end)) {
      this.#step();
      count++;
    }
    for (; count >= least; count--) {
      const rest = this.#match(at + count, end + 1);
      if (rest >= 0) return rest;
    }
    return -1;
  }

  #expandLeast(at: number, pattern: number, end: number): number {
    for (;; at++) {
      const rest = this.#match(at, end + 1);
      if (rest >= 0) return rest;
      if (at >= this.#to || !this.#single(this.#byte(at), pattern, end)) return -1;
    }
  }

  #openCapture(at: number, pattern: number, length: number): number {
    if (this.#starts.length >= MOST_CAPTURES) throw new PatternFault("too many captures");
    this.#starts.push(at);
    this.#lengths.push(length);
    const end = this.#match(at, pattern);
    if (end < 0) {
      this.#starts.pop();
      this.#lengths.pop();
    }
    return end;
  }

  #closeCapture(at: number, pattern: number): number {
    const index = this.#lengths.lastIndexOf(UNCLOSED);
    if (index < 0) throw new PatternFault("invalid pattern capture");
    this.#lengths[index] = at - this.#starts[index]!;
    const end = this.#match(at, pattern);
    if (end < 0) this.#lengths[index] = UNCLOSED;
    return end;
  }

  #balanced(at: number, pattern: number): number {
    if (pattern + 1 >= this.#patternTo) {
      throw new PatternFault("malformed pattern (missing arguments to '%b')");
    }
    if (at >= this.#to || this.#byte(at) !== this.#byte(pattern)) return -1;
    const opener = this.#byte(pattern);
    const closer = this.#byte(pattern + 1);
    let depth = 1;
    for (let here = at + 1; here < this.#to; here++) {
      this.#step();
      const byte = this.#byte(here);
      if (byte === closer) {
        if (--depth === 0) return here + 1;
      } else if (byte === opener) depth++;
    }
    return -1;
  }

  #backReference(at: number, digit: number): number {
    const index = digit - 0x31;
    const start = this.#starts[index];
    const length = this.#lengths[index];
    if (start === undefined || length === undefined || length === UNCLOSED) {
      throw new PatternFault(`invalid capture index %${index + 1}`);
    }
    if (length === POSITION || this.#to - at < length) return -1;
    for (let offset = 0; offset < length; offset++) {
      this.#step();
      if (this.#byte(start + offset) !== this.#byte(at + offset)) return -1;
    }
    return at + length;
  }
}

/**
 * True if a byte is in the class of a letter. An upper-case letter negates the class, and other characters match
 * themselves.
 */
function inClass(byte: number, letter: number): boolean {
  const lower = letter | 0x20;
  const test = CLASSES[lower];
  if (test === undefined || !isLetter(letter)) return letter === byte;
  return test(byte) === (letter === lower);
}

const isLower = (byte: number) => byte >= 0x61 && byte <= 0x7a;
const isUpper = (byte: number) => byte >= 0x41 && byte <= 0x5a;
const isLetter = (byte: number) => isLower(byte | 0x20) && byte < 0x80;
const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;
const isGraphic = (byte: number) => byte > 0x20 && byte < 0x7f;

const CLASSES: Readonly<Record<number, (byte: number) => boolean>> = {
  0x61: isLetter,
  0x63: (byte) => byte < 0x20 || byte === 0x7f,
  0x64: isDigit,
  0x67: isGraphic,
  0x6c: isLower,
  0x70: (byte) => isGraphic(byte) && !isLetter(byte) && !isDigit(byte),
  0x73: (byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d),
  0x75: isUpper,
  0x77: (byte) => isLetter(byte) || isDigit(byte),
  0x78: (byte) => isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66),
  0x7a: (byte) => byte === 0,
};

/** True if a pattern has no special characters. */
export function isPlain(pattern: Uint8Array): boolean {
  return !pattern.some((byte) => SPECIALS.includes(byte));
}

/** Special characters, without the closing bracket, which is special only after an opening one. */
const SPECIALS = [CARET, DOLLAR, STAR, PLUS, QUESTION, DOT, OPEN, BRACKET, PERCENT, MINUS];
