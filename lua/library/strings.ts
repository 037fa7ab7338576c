// String functions that replace Lua's own, whose C code could run without end or behave differently than documents
// expect: pattern matching and formatting.

import type { Cell, HostFunction } from "../vm/cell.ts";
import { TYPE, typeName } from "../vm/stack.ts";
import { type Capture, isPlain, Matcher, PatternFault } from "./pattern.ts";

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Number of bytes compared or copied that count as one step. */
const BYTES_PER_STEP = 64;

export const find: HostFunction = (cell) => search(cell, "find");
export const match: HostFunction = (cell) => search(cell, "match");

function search(cell: Cell, name: "find" | "match"): number {
  const subject = textArgument(cell, 1, name);
  const pattern = textArgument(cell, 2, name);
  const start = startOf(cell, subject, 3);
  const plain = name === "find" &&
    (cell.boolean(4) || isPlain(cell.bytes().subarray(pattern.from, pattern.to)));
  if (plain) {
    const found = indexOf(cell, subject, pattern, start);
    if (found < 0) return nothing(cell);
    cell.pushNumber(found - subject.from + 1);
    cell.pushNumber(found - subject.from + pattern.to - pattern.from);
    return 2;
  }
  const anchored = isAnchored(cell, pattern);
  const matcher = matcherOf(cell, subject, anchored ? { from: pattern.from + 1, to: pattern.to } : pattern);
  return guarded(cell, () => {
    for (let at = start; at <= subject.to; at++) {
      const end = matcher.matchAt(at);
      if (end >= 0) {
        matcher.settle();
        if (name === "match") return pushCaptures(cell, matcher.captures({ from: at, to: end }));
        cell.pushNumber(at - subject.from + 1);
        cell.pushNumber(end - subject.from);
        return 2 + pushCaptures(cell, matcher.captures());
      }
      if (anchored) break;
    }
    matcher.settle();
    return nothing(cell);
  });
}

/**
 * One step of `gmatch`: takes text, pattern, and the offset at which to continue; returns the next offset and the
 * captures, or nil in place of captures at the end.
 */
export const gmatchStep: HostFunction = (cell) => {
  const subject = textArgument(cell, 1, "gmatch");
  const pattern = textArgument(cell, 2, "gmatch");
  const matcher = matcherOf(cell, subject, pattern);
  return guarded(cell, () => {
    for (let at = subject.from + cell.number(3); at <= subject.to; at++) {
      const end = matcher.matchAt(at);
      if (end < 0) continue;
      matcher.settle();
      cell.pushNumber((end === at ? end + 1 : end) - subject.from);
      return 1 + pushCaptures(cell, matcher.captures({ from: at, to: end }));
    }
    matcher.settle();
    cell.pushNumber(subject.to - subject.from + 1);
    cell.pushNil();
    return 2;
  });
};

export const gsub: HostFunction = (cell) => {
  const subject = textArgument(cell, 1, "gsub");
  const pattern = textArgument(cell, 2, "gsub");
  const type = cell.type(3);
  if (type === TYPE.number) textArgument(cell, 3, "gsub");
  else if (type !== TYPE.string && type !== TYPE.table && type !== TYPE.function) {
    cell.raise(`bad argument #3 to 'gsub' (string/function/table expected, got ${nameOf(type)})`);
  }
  const most = cell.type(4) <= TYPE.nil ? Infinity : Math.trunc(cell.number(4));
  const anchored = isAnchored(cell, pattern);
  const body = anchored ? { from: pattern.from + 1, to: pattern.to } : pattern;
  const out = new ByteBuilder(cell);
  return guarded(cell, () => {
    let count = 0;
    let at = subject.from;
    // A callback may let the memory grow, which replaces our view of the memory; Lua's addresses stay valid.
    let matcher = matcherOf(cell, subject, body);
    while (count < most) {
      const end = matcher.matchAt(at);
      if (end >= 0) {
        count++;
        matcher.settle();
        addReplacement(cell, out, matcher, { from: at, to: end });
        if (type === TYPE.function) matcher = matcherOf(cell, subject, body);
      }
      if (end > at) at = end;
      else if (at < subject.to) out.addSlice(at, ++at);
      else break;
      if (anchored) break;
    }
    matcher.settle();
    if (at < subject.to) out.addSlice(at, subject.to);
    cell.pushBytes(out.bytes());
    cell.pushNumber(count);
    return 2;
  });
};

function addReplacement(cell: Cell, out: ByteBuilder, matcher: Matcher, whole: Span): void {
  const type = cell.type(3);
  if (type === TYPE.string) {
    addTemplate(cell, out, matcher, whole);
    return;
  }
  const captures = matcher.captures(whole);
  if (type === TYPE.function) {
    cell.pushCopy(3);
    cell.callFunction(pushCaptures(cell, captures), 1);
  } else {
    pushCapture(cell, captures[0]!);
    cell.rawGet(3);
  }
  const result = cell.type(-1);
  if (result === TYPE.nil || (result === TYPE.boolean && !cell.boolean(-1))) {
    out.addSlice(whole.from, whole.to);
  } else if (result === TYPE.string || result === TYPE.number) {
    const span = cell.span(-1)!;
    out.addSlice(span.from, span.to);
  } else cell.raise(`invalid replacement value (a ${nameOf(result)})`);
  cell.pop(1);
}

/** Adds a replacement text with `%0` to `%9`; `%` before any other character gives that character. */
function addTemplate(cell: Cell, out: ByteBuilder, matcher: Matcher, whole: Span): void {
  const { from, to } = cell.span(3)!;
  for (let at = from; at < to; at++) {
    const bytes = cell.bytes();
    if (bytes[at] !== 0x25 || at + 1 >= to) {
      out.addSlice(at, at + 1);
      continue;
    }
    at++;
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) out.addSlice(at, at + 1);
    else if (digit === 0) out.addSlice(whole.from, whole.to);
    else {
      const captures = matcher.captures(whole);
      const capture = captures[digit - 1];
      if (capture === undefined) throw new PatternFault(`invalid capture index %${digit}`);
      if ("position" in capture) out.addText(String(capture.position));
      else out.addSlice(capture.from, capture.to);
    }
  }
}

/**
 * Wraps `string.format` of Lua: integer conversions truncate fractions, `%u` is supported, and `%q` accepts numbers.
 * `raw` is the reference to Lua's function.
 */
export function formatWith(raw: number): HostFunction {
  return (cell) => {
    const format = textArgument(cell, 1, "format");
    const count = cell.top();
    const bytes = cell.bytes().slice(format.from, format.to);
    let argument = 1;
    let changed = false;
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] !== 0x25) continue;
      at++;
      if (bytes[at] === 0x25) continue;
      while (at < bytes.length && "-+ #0.123456789".includes(String.fromCharCode(bytes[at]!))) at++;
      argument++;
      const conversion = String.fromCharCode(bytes[at] ?? 0);
      if (argument > count) break;
      if (conversion === "u") {
        bytes[at] = 0x64;
        changed = true;
      }
      if ("diucoxX".includes(conversion)) truncateArgument(cell, argument);
      else if (conversion === "q" && cell.type(argument) === TYPE.number) cell.span(argument);
    }
    cell.spend(Math.ceil(bytes.length / BYTES_PER_STEP));
    if (changed) {
      cell.pushBytes(bytes);
      cell.replace(1);
    }
    cell.pushKept(raw);
    cell.insert(1);
    cell.callFunction(count, 1);
    return 1;
  };
}

function truncateArgument(cell: Cell, index: number): void {
  const type = cell.type(index);
  if (type !== TYPE.number && type !== TYPE.string) return;
  const value = cell.number(index);
  if (Number.isInteger(value) || !Number.isFinite(value)) return;
  cell.pushNumber(Math.trunc(value));
  cell.replace(index);
}

// ---- shared pieces -------------------------------------------------------------------------------------------------

function textArgument(cell: Cell, index: number, name: string): Span {
  const span = cell.span(index);
  if (span !== null) return span;
  return cell.raise(`bad argument #${index} to '${name}' (string expected, got ${nameOf(cell.type(index))})`);
}

function nameOf(type: number): string {
  return type === TYPE.none ? "no value" : typeName(type);
}

/** Returns the start of a search: a position from either end, limited to the subject. */
function startOf(cell: Cell, subject: Span, index: number): number {
  if (cell.type(index) <= TYPE.nil) return subject.from;
  const init = Math.trunc(cell.number(index));
  const length = subject.to - subject.from;
  const offset = init > 0 ? init - 1 : init < 0 ? length + init : 0;
  return subject.from + Math.min(length, Math.max(0, offset));
}

function isAnchored(cell: Cell, pattern: Span): boolean {
  return pattern.to > pattern.from && cell.bytes()[pattern.from] === 0x5e;
}

function matcherOf(cell: Cell, subject: Span, pattern: Span): Matcher {
  return new Matcher(cell.bytes(), subject, pattern, (steps) => cell.spend(steps));
}

/** Converts a pattern fault to a Lua error; rethrows everything else. */
function guarded(cell: Cell, work: () => number): number {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof PatternFault)) throw thrown;
    return cell.raise(thrown.message);
  }
}

function nothing(cell: Cell): number {
  cell.pushNil();
  return 1;
}

function pushCaptures(cell: Cell, captures: readonly Capture[]): number {
  cell.reserve(captures.length);
  for (const capture of captures) pushCapture(cell, capture);
  return captures.length;
}

function pushCapture(cell: Cell, capture: Capture): void {
  if ("position" in capture) cell.pushNumber(capture.position);
  else cell.pushSlice(capture.from, capture.to);
}

/** Returns the offset of a plain text in the subject at or after `start`, or -1. */
function indexOf(cell: Cell, subject: Span, needle: Span, start: number): number {
  const length = needle.to - needle.from;
  if (length === 0) return start;
  const bytes = cell.bytes();
  const first = bytes[needle.from]!;
  const last = subject.to - length;
  let steps = 0;
  for (let at = start; at <= last; at++) {
    const candidate = bytes.indexOf(first, at);
    if (candidate < 0 || candidate > last) break;
    steps += 1 + (candidate - at) / BYTES_PER_STEP;
    at = candidate;
    let same = 1;
    while (same < length && bytes[at + same] === bytes[needle.from + same]) same++;
    if (same === length) return at;
    steps += same / BYTES_PER_STEP;
    if (steps >= 1000) {
      cell.spend(Math.ceil(steps));
      steps = 0;
    }
  }
  cell.spend(Math.ceil(steps + (subject.to - start) / BYTES_PER_STEP));
  return -1;
}

/** Builds a text outside Lua's memory, within the limit for strings. */
class ByteBuilder {
  readonly #cell: Cell;
  #buffered = new Uint8Array(256);
  #length = 0;

  constructor(cell: Cell) {
    this.#cell = cell;
  }

  addSlice(from: number, to: number): void {
    this.#grow(to - from);
    if (to - from === 1) this.#buffered[this.#length] = this.#cell.bytes()[from]!;
    else this.#buffered.set(this.#cell.bytes().subarray(from, to), this.#length);
    this.#length += to - from;
  }

  addText(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.#grow(bytes.length);
    this.#buffered.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  bytes(): Uint8Array {
    return this.#buffered.subarray(0, this.#length);
  }

  #grow(by: number): void {
    const wanted = this.#length + by;
    if (wanted > this.#cell.budget.limits.string) this.#cell.exceed("string");
    if (wanted <= this.#buffered.length) return;
    const larger = new Uint8Array(Math.max(wanted, this.#buffered.length * 2));
    larger.set(this.bytes());
    this.#buffered = larger;
  }
}
