// Repair of tool schemas that providers refuse: one such schema makes every request fail.

import { isObject } from "../../../base/is_object.ts";
import type { OfferedTool } from "../../types.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Members that no provider accepts at the root of a schema. */
const REFUSED_AT_ROOT = ["oneOf", "anyOf", "allOf", "not", "enum", "const", "if", "then", "else", "$ref"];

const TYPES: ReadonlySet<unknown> = new Set([
  "object",
  "array",
  "string",
  "number",
  "integer",
  "boolean",
  "null",
]);

/** Matches names of members that Anthropic accepts. */
const MEMBER_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/**
 * Returns the tools with schemas that a provider accepts, and a sentence about each tool that is left out. Valid schemas
 * stay the same objects.
 */
export function usableTools(
  offered: readonly OfferedTool[],
  provider: string,
): { readonly tools: readonly OfferedTool[]; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const tools = offered.flatMap((tool): OfferedTool[] => {
    const reason = provider === "anthropic" ? refusedMember(tool.input_schema) : null;
    if (reason !== null) {
      warnings.push(`The tool ${tool.name} is left out: ${reason}`);
      return [];
    }
    const schema = repairSchema(tool.input_schema);
    return [schema === tool.input_schema ? tool : { ...tool, input_schema: schema }];
  });
  return { tools: tools.every((tool, at) => tool === offered[at]) ? offered : tools, warnings };
}

/** Returns why Anthropic refuses the names of a schema's members; null if it accepts them. */
function refusedMember({ properties }: Schema): string | null {
  const name = Object.keys(isObject(properties) ? properties : {}).find((key) => !MEMBER_NAME.test(key));
  return name === undefined
    ? null
    : `Anthropic does not accept the parameter name ${JSON.stringify(name.slice(0, 80))}.`;
}

/** Returns a schema that providers accept; the same object if nothing has to change. */
export function repairSchema(schema: Schema): Schema {
  const root = isObject(schema) ? schema : {};
  const flat = REFUSED_AT_ROOT.some((key) => key in root) ? flattened(root) : root;
  const rooted = flat.type === "object" && (flat.properties === undefined || isObject(flat.properties))
    ? flat
    : { ...flat, type: "object", properties: isObject(flat.properties) ? flat.properties : {} };
  const repaired = repairedPart(rooted, 0) as Schema;
  return JSON.stringify(repaired) === JSON.stringify(schema) ? schema : repaired;
}

/** Moves the members of alternatives at the root into one object; only those that every alternative needs are required. */
function flattened(root: Schema): Schema {
  const kept = Object.fromEntries(Object.entries(root).filter(([key]) => !REFUSED_AT_ROOT.includes(key)));
  const lists = ["oneOf", "anyOf"].flatMap((key) => schemasIn(root[key]));
  const all = schemasIn(root.allOf);
  const target = resolved(root);
  const parts = [...target, ...all, ...lists];
  const properties = Object.assign({}, ...parts.map(({ properties }) => properties), kept.properties);
  const required = [
    ...namesIn(kept.required),
    ...[...target, ...all].flatMap(({ required }) => namesIn(required)),
    ...(lists.length === 0
      ? []
      : namesIn(lists[0]!.required).filter((name) =>
        lists.every((one) => namesIn(one.required).includes(name))
      )),
  ];
  return {
    ...kept,
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
  };
}

/** Returns the definition in the same schema that a reference at the root names, if any. */
function resolved({ $ref: reference, $defs: defs, definitions }: Schema): readonly Schema[] {
  const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(String(reference))?.[1];
  const all = { ...(isObject(definitions) ? definitions : {}), ...(isObject(defs) ? defs : {}) };
  const found = name === undefined ? undefined : all[name];
  return isObject(found) ? [found] : [];
}

function schemasIn(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

/** Depth below which a schema is dropped: providers refuse deeper ones. */
const DEEPEST = 40;

/** Members that hold schemas by name, and those that hold one schema or a list. */
const NAMED = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const NESTED = ["items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"];
const LISTED = ["anyOf", "oneOf", "allOf", "prefixItems"];

function repairedPart(part: unknown, depth: number): unknown {
  if (typeof part === "boolean") return part;
  if (!isObject(part) || depth > DEEPEST) return {};
  const members = Object.entries(part).flatMap(([key, value]): [string, unknown][] => {
    if (NAMED.includes(key)) {
      if (!isObject(value)) return [];
      const inner = Object.entries(value).map(([name, one]) => [name, repairedPart(one, depth + 1)]);
      return [[key, Object.fromEntries(inner)]];
    }
    if (NESTED.includes(key)) {
      // A list of schemas for the items is the form of older drafts.
      return Array.isArray(value)
        ? key === "items" && value.length > 0 ? [["items", repairedPart(value[0], depth + 1)]] : []
        : [[key, repairedPart(value, depth + 1)]];
    }
    if (LISTED.includes(key)) {
      return Array.isArray(value) && value.length > 0
        ? [[key, value.map((one) => repairedPart(one, depth + 1))]]
        : [];
    }
    return isValid(key, value) ? [[key, value]] : [];
  });
  const repaired = Object.fromEntries(members);
  return repaired.type === "array" && repaired.items === undefined ? { ...repaired, items: {} } : repaired;
}

/** True if a member that holds no schema has a value that JSON Schema allows. */
function isValid(key: string, value: unknown): boolean {
  switch (key) {
    case "type":
      return Array.isArray(value)
        ? value.length > 0 && value.every((one) => TYPES.has(one))
        : TYPES.has(value);
    case "required":
      return Array.isArray(value) && value.every((name) => typeof name === "string");
    case "enum":
      return Array.isArray(value) && value.length > 0;
    case "$ref":
      return typeof value === "string" && value.startsWith("#");
    case "pattern":
      return typeof value === "string" && isPattern(value);
    case "description":
    case "title":
      return typeof value === "string";
    case "minimum":
    case "maximum":
    case "exclusiveMinimum":
    case "exclusiveMaximum":
    case "multipleOf":
      return typeof value === "number";
    case "minLength":
    case "maxLength":
    case "minItems":
    case "maxItems":
      return typeof value === "number" && Number.isInteger(value) && value >= 0;
    default:
      return true;
  }
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    // The engine throws for a text that is not a regular expression.
    return false;
  }
}

/** Places of tools in error messages, as `tools.14`, `tools[14]` and `function_declarations[14]`. */
const PLACES =
  /\b(?:tools(?:\[\d+\]|\.\d+)?\.)?function_?declarations\[(\d+)\]|\btools(?:\.(\d+)|\[(\d+)\])/i;

/** Returns the tool that an error message names by its place in a request with these tools; null if it names none. */
export function toolInError<Tool>(message: string, sorted: readonly Tool[]): Tool | null {
  const found = PLACES.exec(message);
  const place = found?.slice(1).find((digits) => digits !== undefined);
  return place === undefined ? null : sorted[Number(place)] ?? null;
}
