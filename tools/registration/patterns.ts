// Expressions in schemas, run by an engine that needs time in proportion to the text. A schema comes from a stranger's
// server and its input from a model: an engine that backtracks can be made to try for longer than anybody lives.

import { isObject } from "../../base/is_object.ts";
import type { JsonSchema } from "../definition.ts";

/** A compiled expression, as the validator asks it. */
interface Pattern {
  test(text: string): boolean;
}

/** What a schema with expressions is compiled with. */
export interface Expressions {
  /** Compiles one, for the validator. Throws for what is no expression at all. */
  readonly engine: ((pattern: string, flags: string) => Pattern) & { code: string };
  /**
   * The schema without expressions that look around or back, which no engine runs in bounded time: what they forbid is
   * left to the tool. Where one of them names members, other members are not forbidden either, since it could have
   * allowed them.
   */
  readable(schema: JsonSchema): JsonSchema;
}

type Compile = (pattern: string) => { matcher(text: string): { find(): boolean } };

/** Loads the engine. */
export async function loadExpressions(): Promise<Expressions> {
  const { RE2JS } = await import("npm:re2js@2.10.0");
  const compile: Compile = (pattern) => RE2JS.compile(RE2JS.translateRegExp(pattern));
  const engine = (pattern: string): Pattern => {
    const machine = compiled(pattern, compile);
    if (machine !== null) return { test: (text) => machine.matcher(text).find() };
    new RegExp(pattern, "u");
    return { test: () => true };
  };
  return {
    engine: Object.assign(engine, { code: "linear" }),
    readable: (schema) => strip(schema, (pattern) => isUnreadable(pattern, compile)) as JsonSchema,
  };
}

/** Members of a schema whose contents are data, not schemas. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

function strip(schema: unknown, isUnreadable: (pattern: string) => boolean): unknown {
  if (Array.isArray(schema)) return schema.map((each) => strip(each, isUnreadable));
  if (!isObject(schema)) return schema;
  const named = isObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : [];
  const isOpen = named.some(isUnreadable);
  const members = Object.entries(schema).flatMap(([name, value]): [string, unknown][] => {
    if (DATA.has(name)) return [[name, value]];
    if (name === "pattern" && typeof value === "string") return isUnreadable(value) ? [] : [[name, value]];
    if (isOpen && (name === "additionalProperties" || name === "unevaluatedProperties")) return [];
    if (name === "patternProperties" && isObject(value)) {
      const kept = Object.entries(value).filter(([pattern]) => !isUnreadable(pattern));
      return [[
        name,
        Object.fromEntries(kept.map(([pattern, inner]) => [pattern, strip(inner, isUnreadable)])),
      ]];
    }
    return [[name, strip(value, isUnreadable)]];
  });
  return Object.fromEntries(members);
}

/** Whether a pattern is an expression, but none that the engine takes. */
function isUnreadable(pattern: string, compile: Compile): boolean {
  if (compiled(pattern, compile) !== null) return false;
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    // Not an expression anywhere: compiling the schema says so.
    return false;
  }
}

function compiled(pattern: string, compile: Compile): ReturnType<Compile> | null {
  try {
    return compile(pattern);
  } catch {
    // Which of its constructs the engine lacks makes no difference to anybody.
    return null;
  }
}
