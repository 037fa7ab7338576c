// Spoils input for readers: bytes are cut, doubled and exchanged, values of JSON are replaced.

import type { Chance } from "./random.ts";

const encoder = new TextEncoder();

/** The same bytes with something taken out, put in, doubled or exchanged, up to four times. */
export function spoiled(random: Chance, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  let result = new Uint8Array(bytes);
  for (let times = 1 + random.below(4); times > 0; times--) {
    const at = random.below(result.length + 1);
    const to = Math.min(result.length, at + random.below(random.pick([2, 8, 60])));
    const from = random.below(result.length + 1);
    const insert = random.pick<() => Uint8Array>([
      () => new Uint8Array(),
      () => new Uint8Array([random.pick([0, 10, 13, 34, 92, 123, 125, 0x80, 0xff, 0xf0])]),
      () =>
        encoder.encode(
          random.pick(["\n\n", "null", "{", "]]", '"', "\\u", "1e999", "-", "*a", "{{", "@You:\n", "true"]),
        ),
      () => result.slice(from, from + random.below(40)),
    ])();
    result = join([result.subarray(0, at), insert, result.subarray(to)]);
  }
  return result;
}

export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export async function* pieces(
  random: Chance,
  bytes: Uint8Array<ArrayBuffer>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random.below(random.pick([3, 50, 5000]));
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** Values that a reader may not expect. */
const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e300,
  "",
  "x",
  "\0",
  "../../x",
  "\u202e\u2028@You:\n```",
  "y".repeat(5000),
  [],
  [null],
  {},
  { kind: "x" },
  { length: 3 },
  { __proto__: null, toString: 1 },
];

/** A value of JSON in which up to three members, at any depth, are another value, missing, doubled or renamed. */
export function alteredValue(random: Chance, value: unknown): unknown {
  const copy: unknown = structuredClone(value);
  const root = { root: copy };
  for (let times = 1 + random.below(3); times > 0; times--) alter(random, root);
  return root.root;
}

function alter(random: Chance, root: object): void {
  let parent = root as Record<string, unknown>;
  let key = Object.keys(parent)[0]!;
  for (;;) {
    const inner = parent[key];
    const keys = typeof inner === "object" && inner !== null ? Object.keys(inner) : [];
    if (keys.length === 0 || random.below(4) === 0) break;
    parent = inner as Record<string, unknown>;
    key = random.pick(keys);
  }
  const way = random.below(8);
  if (way === 0 && parent !== root) delete parent[key];
  else if (way === 1 && parent !== root && !Array.isArray(parent)) parent[`${key}s`] = parent[key];
  else if (way === 2) parent[key] = [parent[key], structuredClone(parent[key])];
  else parent[key] = structuredClone(random.pick(ODD));
}

/** JSON with other values, or with other bytes. */
export function spoiledJson(random: Chance, value: unknown): Uint8Array<ArrayBuffer> {
  return random.below(3) === 0
    ? spoiled(random, encoder.encode(JSON.stringify(value)))
    : encoder.encode(JSON.stringify(alteredValue(random, value)) ?? "");
}

/** A value of JSON as a reader gets it that was given broken bytes: any value, or none. */
export function spoiledValue(random: Chance, value: unknown): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(spoiledJson(random, value)));
  } catch {
    return random.pick(ODD);
  }
}
