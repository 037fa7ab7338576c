// Random invalid messages made from valid ones; the same seed gives the same messages.

import type { Random } from "../parser/hostile.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const ODD: readonly Json[] = [
  null,
  true,
  -1,
  0,
  1e300,
  2 ** 53,
  0.5,
  "",
  "x",
  "\ud800",
  "../../etc/passwd",
  "__proto__",
  "constructor",
  [],
  [null],
  {},
  { uri: 7 },
  { line: -1, character: 1e9 },
  { line: 1e12, character: 0 },
];

/** The same value with something odd in one or two places, or left out. */
export function bent(random: Random, value: Json): Json {
  if (random.chance(6) || typeof value !== "object" || value === null) return random.pick(ODD);
  const copy = structuredClone(value);
  const keys = Object.keys(copy);
  if (keys.length === 0) return random.pick(ODD);
  const key = random.pick(keys);
  if (random.chance(5)) delete copy[key];
  else copy[key] = random.chance(2) ? bent(random, copy[key]) : random.pick(ODD);
  if (!Array.isArray(copy) && random.chance(8)) Object.assign(copy, JSON.parse('{"__proto__": {"a": 1}}'));
  return copy;
}

/** Bytes that are no message of the protocol, after which the next one is read all the same. */
export function noise(random: Random, frame: (text: string) => Uint8Array): Uint8Array {
  const encode = (text: string) => new TextEncoder().encode(text);
  return random.pick([
    () => frame("{"),
    () => frame("[]"),
    () => frame("null"),
    () => frame('"\\ud800"'),
    () => frame(`{"jsonrpc":"2.0","id":null,"method":"initialize"}`),
    () => frame(`{"jsonrpc":"2.0","id":{},"method":"shutdown"}`),
    () => frame(`{"jsonrpc":"2.0","id":99999999,"result":{}}`),
    () => frame(`{"jsonrpc":"2.0","id":1,"error":7}`),
    () => frame(`[${'{"a":'.repeat(2000)}1${"}".repeat(2000)}]`),
    () => encode("\r\n\r\n"),
    () => encode("\n"),
  ])();
}

/** Bytes in pieces of any size. */
export function* pieces(random: Random, bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const size = random.chance(3) ? 1 + random.below(5) : 1 + random.below(4000);
    yield bytes.slice(at, at + size);
    at += size;
  }
}
