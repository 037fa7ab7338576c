// The writer of request bodies: deterministic JSON, so that equal conversations give equal bytes for prefix caches.
//
// Keys are sorted bytewise at every depth; at the top level a provider's trailing keys come last in a given order.
// Tool inputs are written as `Raw`, in the model's own text, because parsing and encoding them again would change
// numbers and the order of members.

import { compactJson } from "../../base/text/json_text.ts";
import { byBytes, MOST_TEXT_BYTES, utf8Length } from "../../base/bytes.ts";

/** JSON text that is written unchanged. */
export class Raw {
  readonly text: string;

  /**
   * Creates raw JSON. `text` must be valid JSON; whitespace outside strings is removed, and lone surrogates are
   * replaced.
   */
  constructor(text: string) {
    this.text = withoutHalves(compactJson(text));
  }
}

/** A value that can be written; `undefined` members are omitted. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | Raw
  | readonly JsonValue[]
  | JsonMembers;

/** An object that this module can write, by its members. */
export type JsonMembers = { readonly [key: string]: JsonValue | undefined };

/** Writes a body in UTF-8; `trailing` names the top-level keys that come last, in this order. */
export function writeBody(
  body: JsonMembers,
  trailing: readonly string[],
): Uint8Array<ArrayBuffer> {
  const first = sortedKeys(body).filter((key) => !trailing.includes(key));
  const write = (sink: TextSink) => addMembers(body, [...first, ...trailing], sink);
  // The value is processed twice, once to count and once to write, so that a long conversation is not in memory twice.
  let length = 0;
  write({
    push(...texts) {
      for (const text of texts) length += utf8Length(text);
    },
  });
  // This is the error that the engine itself throws if a string becomes too long.
  if (length > MOST_TEXT_BYTES) throw new RangeError("Invalid string length");
  const bytes = new Uint8Array(length);
  let at = 0;
  write({
    push(...texts) {
      for (const text of texts) at += encoder.encodeInto(text, bytes.subarray(at)).written;
    },
  });
  return bytes;
}

const encoder = new TextEncoder();

interface TextSink {
  push(...texts: readonly string[]): void;
}

/** Writes a value with sorted keys at every depth. */
export function writeJson(value: JsonValue): string {
  const pieces: string[] = [];
  addValue(value, pieces);
  return pieces.join("");
}

/** Adds a value's text as pieces that are joined once: joining at each depth would copy a long text each time. */
function addValue(value: JsonValue, pieces: TextSink): void {
  if (value instanceof Raw) pieces.push(value.text);
  // Providers refuse the escape of a lone surrogate. The text would stay in the document, so every later request would
  // be refused, too.
  else if (typeof value === "string") pieces.push(JSON.stringify(value.toWellFormed()));
  else if (value === null || typeof value !== "object") pieces.push(JSON.stringify(value));
  else if (isList(value)) {
    pieces.push("[");
    value.forEach((item, index) => {
      if (index > 0) pieces.push(",");
      addValue(item, pieces);
    });
    pieces.push("]");
  } else addMembers(value, sortedKeys(value), pieces);
}

/**
 * Converts a value from another source (a tool's schema, a decoded input) to a writable one. Like `JSON.stringify`, it
 * omits functions and symbols from objects and turns them into null in arrays.
 */
export function toJsonValue(value: unknown): JsonValue {
  const text = JSON.stringify(value);
  return text === undefined ? null : JSON.parse(text) as JsonValue;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function addMembers(
  value: JsonMembers,
  keys: readonly string[],
  pieces: TextSink,
): void {
  let separator = "{";
  for (const key of keys) {
    const member = value[key];
    if (member === undefined) continue;
    pieces.push(separator, JSON.stringify(key), ":");
    addValue(member, pieces);
    separator = ",";
  }
  pieces.push(separator === "{" ? "{}" : "}");
}

function sortedKeys(value: object): string[] {
  return Object.keys(value).sort(byBytes);
}

/** Replaces escaped lone surrogates in JSON text with U+FFFD. */
function withoutHalves(text: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  return text.replace(
    /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|[^])/g,
    (escape, half?: string) => half === undefined ? escape : "\\ufffd",
  );
}
