// Runs the line scanner: loads its WASM module on first use and feeds it window by window.

import { INPUT, OUTPUT, WINDOW } from "./layout.ts";
import { WASM } from "./wasm.generated.ts";

const LF = 0x0a;

/** The exports of the WASM module; see scan.as. */
interface Module {
  readonly memory: WebAssembly.Memory;
  readonly feeds: WebAssembly.Global;
  readonly crFeeds: WebAssembly.Global;
  marks(length: number, first: boolean): number;
  lines(length: number): number;
}

interface Scanner {
  readonly module: Module;
  readonly input: Uint8Array;
  readonly output: Int32Array;
}

let loaded: Scanner | null = null;

/** Compiles the module synchronously, because that is faster than a promise for a module this small. */
function load(): Scanner {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(decodeBase64(WASM)));
  const module = instance.exports as unknown as Module;
  // The memory never grows, so views of the memory stay valid.
  const { buffer } = module.memory;
  return { module, input: new Uint8Array(buffer), output: new Int32Array(buffer, OUTPUT) };
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Decodes Base64. The built-in function takes two milliseconds at its first use, longer than all other steps here. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128);
  for (let value = 0; value < 64; value++) values[ALPHABET.charCodeAt(value)] = value;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array(text.length / 4 * 3 - padding);
  for (let at = 0, out = 0; at < text.length; at += 4) {
    const four = values[text.charCodeAt(at)]! << 18 | values[text.charCodeAt(at + 1)]! << 12 |
      values[text.charCodeAt(at + 2)]! << 6 | values[text.charCodeAt(at + 3)]!;
    bytes[out++] = four >> 16;
    bytes[out++] = four >> 8;
    bytes[out++] = four;
  }
  return bytes;
}

/** The result of scanning a range of whole lines. */
export interface Scan {
  /** Number of line feeds, and number of those with a carriage return before them. */
  readonly feeds: number;
  readonly crFeeds: number;
  /** Number of lines that begin with one of the starters of lines.ts. */
  readonly count: number;
  /**
   * For each counted line, its offset and the offset of the line after it, in order. The array may be longer, and it is
   * valid only until the next scan.
   */
  readonly lines: Int32Array;
}

/** Scans `bytes`, which begin at the start of a line. */
export function scanMarks(bytes: Uint8Array): Scan {
  const { module, input, output } = loaded ??= load();
  if (bytes.length <= WINDOW) {
    input.set(bytes, INPUT);
    const count = module.marks(bytes.length, true);
    if (count > 0 && output[2 * count - 1] === 0) output[2 * count - 1] = bytes.length;
    return { feeds: module.feeds.value, crFeeds: module.crFeeds.value, count, lines: output };
  }
  return scanLong(bytes, module, input, output);
}

/** Scans more than one window, for a very long line or the text before one. */
function scanLong(bytes: Uint8Array, module: Module, input: Uint8Array, output: Int32Array): Scan {
  const found: number[] = [];
  let feeds = 0;
  let crFeeds = 0;
  for (let from = 0; from < bytes.length; from += WINDOW) {
    const length = Math.min(WINDOW, bytes.length - from);
    input.set(bytes.subarray(from, from + length), INPUT);
    const count = module.marks(length, from === 0);
    feeds += module.feeds.value;
    crFeeds += module.crFeeds.value;
    for (let index = 0; index < count; index++) {
      const next = output[2 * index + 1]!;
      found.push(from + output[2 * index]!, next === 0 ? lineAfter(bytes, from + length) : from + next);
    }
  }
  return { feeds, crFeeds, count: found.length / 2, lines: Int32Array.from(found) };
}

function lineAfter(bytes: Uint8Array, from: number): number {
  const feed = bytes.indexOf(LF, from);
  return feed < 0 ? bytes.length : feed + 1;
}

/** Returns the offsets at which lines of `bytes` begin: 0, and the byte after each of the `feeds` line feeds. */
export function scanLines(bytes: Uint8Array, feeds: number): Uint32Array {
  const { module, input, output } = loaded ??= load();
  const starts = new Uint32Array(feeds + 1);
  let filled = 1;
  for (let from = 0; from < bytes.length; from += WINDOW) {
    const length = Math.min(WINDOW, bytes.length - from);
    input.set(length === bytes.length ? bytes : bytes.subarray(from, from + length), INPUT);
    const count = module.lines(length);
    if (from === 0) starts.set(output.subarray(0, count), filled);
    else for (let index = 0; index < count; index++) starts[filled + index] = from + output[index]!;
    filled += count;
  }
  return starts;
}
