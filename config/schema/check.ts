// Whether a value is what a key may hold, said in words a person understands.

import { isObject } from "../../base/is_object.ts";
import { nearest } from "../../base/nearest.ts";
import type { Type } from "./define.ts";

/** Tables and lists of data in each other; the same holds for values of Lua. Deeper ones are nobody's settings. */
export const MOST_LEVELS = 100;

/** Whether a value is nested deeper than anybody reads; one inside itself is. */
export function isTooDeep(value: unknown, level = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return level > MOST_LEVELS || Object.values(value).some((member) => isTooDeep(member, level + 1));
}

/** What is wrong with a value, or null. */
export interface Mismatch {
  /** Completes the sentence `"KEY" expects …`. */
  readonly expected: string;
  readonly found: string;
  /** The nearest allowed word. */
  readonly suggestion?: string;
  readonly hint?: string;
}

export function checkValue(type: Type, value: unknown): Mismatch | null {
  const wrong = (expected: string): Mismatch => ({ expected, found: kindOf(value) });
  switch (type.is) {
    case "any":
      return null;
    case "boolean":
      return typeof value === "boolean" ? null : wrong("true or false");
    case "string":
      return typeof value === "string" && value !== "" ? null : wrong("a string that is not empty");
    case "number": {
      const least = type.min;
      const fits = typeof value === "number" && Number.isFinite(value) &&
        (least === undefined || value >= least);
      return fits ? null : wrong(least === undefined ? "a number" : `a number of at least ${least}`);
    }
    case "integer": {
      const least = type.min;
      const fits = typeof value === "number" && Number.isSafeInteger(value) &&
        (least === undefined || value >= least);
      return fits
        ? null
        : wrong(least === undefined ? "a whole number" : `a whole number of at least ${least}`);
    }
    case "word":
      return typeof value === "string" && type.words.includes(value)
        ? null
        : withSuggestion(wrong(`one of ${type.words.join(", ")}`), value, type.words);
    case "custom": {
      if (type.accepts(value)) return null;
      const hint = type.hint?.(value);
      return { ...withSuggestion(wrong(type.expected), value, type.words ?? []), ...(hint ? { hint } : {}) };
    }
    case "list": {
      if (!Array.isArray(value)) return wrong("a list");
      for (let at = 0; at < value.length; at++) {
        const item = checkValue(type.item, value[at]);
        if (item !== null) return { ...item, expected: `a list whose every item is ${item.expected}` };
      }
      return null;
    }
    case "map": {
      if (!isObject(value)) return wrong("a mapping");
      for (const member of Object.values(value)) {
        const inner = checkValue(type.of, member);
        if (inner !== null) return { ...inner, expected: `a mapping whose every value is ${inner.expected}` };
      }
      return null;
    }
  }
}

/** Completes a sentence from a mismatch. */
export function mismatchSentence(key: string, { expected, found, suggestion, hint }: Mismatch): string {
  const near = suggestion === undefined ? "" : `; did you mean "${suggestion}"?`;
  return `"${key}" expects ${expected}, found ${found}${hint === undefined ? "" : `: ${hint}`}${near}`;
}

/** Whether a type takes plain objects as values. */
export function takesObjects(type: Type): boolean {
  return type.is === "map" || type.is === "any" || type.is === "custom";
}

/** Equality of list items: exact for strings, by content for the few items that are objects. */
export function sameItem(a: unknown, b: unknown): boolean {
  return a === b || (isObject(a) && isObject(b) && JSON.stringify(a) === JSON.stringify(b));
}

function withSuggestion(mismatch: Mismatch, value: unknown, words: readonly string[]): Mismatch {
  const near = typeof value === "string" ? nearest(value, words) : null;
  return near === null ? mismatch : { ...mismatch, suggestion: near };
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "function") return "a function";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
