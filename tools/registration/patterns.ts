// Regular expressions of schemas, run in time linear to the text. Untrusted servers write schemas and models write
// input, so a backtracking engine could be made to run forever.

import { isObject } from "../../base/is_object.ts";
import type { JsonSchema } from "../definition.ts";

/** A compiled expression, as the validator uses it. */
interface Pattern {
  test(text: string): boolean;
}

/** The regular expression engine for compiling schemas. */
export interface Expressions {
  /** Compiles a regular expression for the validator. Throws if the text is not a valid one. */
  readonly engine: ((pattern: string, flags: string) => Pattern) & { code: string };
  /**
   * Removes lookaround and backreferences, which no engine runs in bounded time, and expressions that are very long or
   * too many. The tool has to check such values itself. If a removed expression was for member names, the schema no longer forbids additional members, because the
   * expression could have allowed them.
   */
  readable(schema: JsonSchema): JsonSchema;
}

interface Machine {
  matcher(text: string): { find(): boolean };
  /** Number of instructions. */
  programSize(): number;
}

type Compile = (pattern: string) => Machine;

/** Maximum number of characters of an expression. A longer one takes long to compile. */
const LONGEST = 2000;
/** Maximum number of expressions in one schema. */
const MOST = 200;
/** Maximum number of steps of a search: the number of instructions times the number of characters. */
const MOST_STEPS = 30_000_000;

function isFound(machine: Machine, text: string): boolean {
  if (machine.programSize() * text.length > MOST_STEPS) throw new Error("the check takes too long");
  return machine.matcher(text).find();
}

/** Loads the engine. */
export async function loadExpressions(): Promise<Expressions> {
  const { RE2JS } = await import("npm:re2js@2.10.0");
  const machines = new Map<string, Machine>();
  const compile: Compile = (pattern) => {
    const known = machines.get(pattern);
    if (known !== undefined) return known;
    if (pattern.length > LONGEST || machines.size >= MOST) {
      throw new Error("there are too many, or it is too long");
    }
    const machine = RE2JS.compile(RE2JS.translateRegExp(pattern));
    machines.set(pattern, machine);
    return machine;
  };
  const engine = (pattern: string): Pattern => {
    const machine = compiled(pattern, compile);
    if (machine !== null) return { test: (text) => isFound(machine, text) };
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

/** True if a pattern is a valid expression that the engine does not support. */
function isUnreadable(pattern: string, compile: Compile): boolean {
  if (compiled(pattern, compile) !== null) return false;
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    // The pattern is invalid in every engine, and compiling the schema reports it.
    return false;
  }
}

function compiled(pattern: string, compile: Compile): ReturnType<Compile> | null {
  try {
    return compile(pattern);
  } catch {
    // The reason does not matter; the caller only needs to know that the engine rejects it.
    return null;
  }
}
