// Validation of a value against the type of a key, with messages for people.

import { isObject } from "../../base/is_object.ts";
import { nearest } from "../../base/names.ts";
import type { Type } from "./define.ts";
import { numberHint, switchHint } from "../data/values.ts";

/** Maximum nesting depth of data and Lua values; settings are never deeper. */
export const MOST_LEVELS = 100;

/** True if a value is nested too deeply; a cyclic one always is. */
export function isTooDeep(value: unknown, level = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return level > MOST_LEVELS || Object.values(value).some((member) => isTooDeep(member, level + 1));
}

export interface Mismatch {
  /** The keys that lead from the value to its wrong part. */
  readonly at: readonly string[];
  /** The wrong part, an item or a member. It serves to find the position in the source. */
  readonly part?: unknown;
  /** True if the last key of `at` does not exist; `expected` is then meaningless. */
  readonly isUnknown?: boolean;
  /** The end of the sentence `"KEY" expects …`. */
  readonly expected: string;
  readonly found: string;
  readonly suggestion?: string;
  readonly hint?: string;
}

export function mismatches(type: Type, value: unknown): readonly Mismatch[] {
  const wrong = (expected: string, hint?: string): Mismatch[] => [{
    at: [],
    expected,
    found: "isSecret" in type && typeof value === "string" ? "another text" : kindOf(value),
    ...(hint === undefined ? {} : { hint }),
  }];
  switch (type.is) {
    case "any":
      return [];
    case "boolean":
      return typeof value === "boolean" ? [] : wrong("true or false", switchHint(value));
    case "string":
      return typeof value === "string" && value !== "" ? [] : wrong("a non-empty string");
    case "number":
    case "integer": {
      const isOne = type.is === "number" ? Number.isFinite(value) : Number.isSafeInteger(value);
      const least = type.min === undefined ? "" : ` of at least ${type.min}`;
      const fits = isOne && (type.min === undefined || Number(value) >= type.min);
      const expected = `a ${type.is === "number" ? "" : "whole "}number${least}`;
      return fits ? [] : wrong(expected, numberHint(value));
    }
    case "word":
      return typeof value === "string" && type.words.includes(value)
        ? []
        : withSuggestion(wrong(`one of ${type.words.join(", ")}`), value, type.words);
    case "custom":
      return customMismatches(type, value, wrong);
    case "list":
      if (!Array.isArray(value)) {
        return wrong("a list", typeof value === "string" ? `write [${value}]` : undefined);
      }
      return value.flatMap((item) => itemMismatches(type.item, item));
    case "map":
      if (!isObject(value)) return wrong("a mapping");
      return Object.entries(value).flatMap(([name, member]) =>
        below(name, member, mismatches(type.of, member))
      );
  }
}

export function itemMismatches(type: Type, item: unknown): readonly Mismatch[] {
  return mismatches(type, item).map((found) => ({
    part: item,
    ...found,
    expected: found.at.length > 0 ? found.expected : `items that are ${found.expected}`,
  }));
}

function customMismatches(
  type: Type & { readonly is: "custom" },
  value: unknown,
  wrong: (expected: string, hint?: string) => Mismatch[],
): readonly Mismatch[] {
  if (type.accepts(value)) return [];
  const { members } = type;
  if (members !== undefined && isObject(value)) {
    const inner = Object.entries(value).flatMap(([name, member]): readonly Mismatch[] => {
      if (Object.hasOwn(members, name)) return below(name, member, mismatches(members[name]!, member));
      const near = nearest(name, Object.keys(members));
      const suggestion = near === null ? {} : { suggestion: near };
      return [{ at: [name], isUnknown: true, expected: "", found: name, ...suggestion }];
    });
    if (inner.length > 0) return inner;
  }
  const found = wrong(type.expected, type.hint?.(value));
  const suggestion = type.suggest?.(value);
  if (suggestion !== undefined) return found.map((each) => ({ ...each, suggestion }));
  return withSuggestion(found, value, type.words ?? []);
}

function below(name: string, member: unknown, found: readonly Mismatch[]): readonly Mismatch[] {
  return found.map((each) => ({ part: member, ...each, at: [name, ...each.at] }));
}

/** Builds a sentence from a mismatch of the value at `key`. */
export function mismatchSentence(key: string, { at, isUnknown, expected, found, ...more }: Mismatch): string {
  const { suggestion, hint } = more;
  const name = [key, ...at].join(".");
  const near = suggestion === undefined ? "" : `; did you mean "${suggestion}"?`;
  if (isUnknown) return `unknown key "${name}"${near}`;
  return `"${name}" expects ${expected}, found ${found}${hint === undefined ? "" : `: ${hint}`}${near}`;
}

export function takesObjects(type: Type): boolean {
  return type.is === "map" || type.is === "any" || type.is === "custom";
}

/** Compares list items: strings exactly, objects by content. */
export function sameItem(a: unknown, b: unknown): boolean {
  return a === b || (isObject(a) && isObject(b) && JSON.stringify(a) === JSON.stringify(b));
}

function withSuggestion(found: Mismatch[], value: unknown, words: readonly string[]): Mismatch[] {
  const near = typeof value === "string" ? nearest(value, words) : null;
  return near === null ? found : found.map((each) => ({ ...each, suggestion: near }));
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "function") return "a function";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
