// Expressions in schemas, run by an engine that needs time in proportion to the text. A schema comes from a stranger's
// server and its input from a model: an engine that backtracks can be made to try for longer than anybody lives.

import { RE2JS } from "re2js";
import { isObject } from "../../base/is_object.ts";
import type { JsonSchema } from "../definition.ts";

/** A compiled expression, as the validator asks it. */
interface Pattern {
  test(text: string): boolean;
}

/** The engine that the validator compiles expressions with. Throws for what is no expression at all. */
export const linear: ((pattern: string, flags: string) => Pattern) & { code: string } = Object.assign(
  (pattern: string): Pattern => {
    const machine = compiled(pattern);
    if (machine !== null) return { test: (text) => machine.matcher(text).find() };
    new RegExp(pattern, "u");
    return { test: () => true };
  },
  { code: "linear" },
);

/** Members of a schema whose contents are data, not schemas. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/**
 * The schema without expressions that look around or back, which no engine runs in bounded time: what they forbid is left
 * to the tool. Where one of them names members, other members are not forbidden either, since it could have allowed them.
 */
export function withoutUnreadable(schema: JsonSchema): JsonSchema {
  return strip(schema) as JsonSchema;
}

function strip(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strip);
  if (!isObject(schema)) return schema;
  const named = isObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : [];
  const isOpen = named.some(isUnreadable);
  const members = Object.entries(schema).flatMap(([name, value]): [string, unknown][] => {
    if (DATA.has(name)) return [[name, value]];
    if (name === "pattern" && typeof value === "string") return isUnreadable(value) ? [] : [[name, value]];
    if (isOpen && (name === "additionalProperties" || name === "unevaluatedProperties")) return [];
    if (name === "patternProperties" && isObject(value)) {
      const kept = Object.entries(value).filter(([pattern]) => !isUnreadable(pattern));
      return [[name, Object.fromEntries(kept.map(([pattern, inner]) => [pattern, strip(inner)]))]];
    }
    return [[name, strip(value)]];
  });
  return Object.fromEntries(members);
}

/** Whether a pattern is an expression, but none that the engine takes. */
function isUnreadable(pattern: string): boolean {
  if (compiled(pattern) !== null) return false;
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    // Not an expression anywhere: compiling the schema says so.
    return false;
  }
}

function compiled(pattern: string): RE2JS | null {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {
    // Which of its constructs the engine lacks makes no difference to anybody.
    return null;
  }
}
