// Turns the export of a tool file into a definition: fills in defaults and collects warnings, or says why the file is
// broken.

import { isObject } from "../../base/is_object.ts";
import type { JsonSchema, ToolDefinition } from "../definition.ts";
import type { Member } from "./protocol.ts";

/** The complete definition of a tool file, with defaults filled in. All of it is data. */
export interface FileDefinition {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
  /** Null if the file states none. */
  readonly risk: Risk | null;
  readonly category: string | null;
  readonly target: "sandbox" | "host";
  readonly exclusive: boolean;
  /** True if the file has code to run. */
  readonly runs: boolean;
  /** Further members of `ToolDefinition` that a file may set. */
  readonly more: Partial<
    Pick<
      ToolDefinition,
      | "enabled"
      | "strict"
      | "capabilities"
      | "output_schema"
      | "path_input"
      | "command_input"
      | "config_schema"
      | "personalities"
    >
  >;
}

/** Harm the tool can do, by its author. */
export type Risk = "low" | "medium" | "high";

/** Result of reading. */
export type Read =
  | { readonly definition: FileDefinition; readonly warnings: readonly string[] }
  /**
   * The file is broken. `broken` is the cause, as the end of a sentence; `name` is the name that the tool would have.
   */
  | {
    readonly broken: string;
    readonly name: string;
    /** The file is not at fault: the host that would load it did not start. */
    readonly notAsked?: true;
  };

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const RISKS: readonly unknown[] = ["low", "medium", "high"];
const TARGETS: readonly unknown[] = ["sandbox", "host"];
/** Names of tools that have always run on the person's own machine. */
const HOST_NAMES = /^(?:host_|computer_use_)/;
const EMPTY_SCHEMA: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

const isText = (value: unknown) => typeof value === "string";
const isSwitch = (value: unknown) => typeof value === "boolean";
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);

/**
 * Warning about a definition with its own preview. Previews are made in this program before a call is approved, so code
 * of a tool file must not make them.
 */
const NO_PREVIEW = "its format_preview is ignored, because code of tool files does not run inside flemma; " +
  "its calls are shown by their input";

/** Members that are copied unchanged, and the check for each. */
const MORE: Readonly<Record<keyof FileDefinition["more"], (value: unknown) => boolean>> = {
  enabled: isSwitch,
  strict: isSwitch,
  capabilities: isTexts,
  output_schema: isObject,
  path_input: isText,
  command_input: isText,
  config_schema: isObject,
  personalities: (value) => isObject(value) && Object.values(value).every(isObject),
};

/** Reads the members of an export. Pure. */
export function readDefinition(members: Readonly<Record<string, Member>>, base: string): Read {
  const warnings: string[] = [];
  const of = (name: string): unknown => {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (member === undefined) return undefined;
    return "value" in member ? member.value : member;
  };
  const take = <T>(name: string, fits: (value: unknown) => boolean, fallback: T): T => {
    const value = of(name);
    if (value === undefined) return fallback;
    if (fits(value)) return value as T;
    warnings.push(`its ${name} has the wrong type and is ignored`);
    return fallback;
  };
  const name = take("name", isText, base);
  if (!NAME.test(name)) {
    return {
      broken: `the name ${JSON.stringify(name)} may contain only letters, digits, _ and -, at most 64`,
      name: NAME.test(base) ? base : "",
    };
  }
  const schema = of("input_schema");
  if (
    schema !== undefined && !isObject(schema) ||
    isObject(schema) && "is" in schema && isMarker(members, "input_schema")
  ) {
    return { broken: "its input_schema is not an object", name };
  }
  const execute = Object.hasOwn(members, "execute") ? members.execute : undefined;
  const runs = execute !== undefined && "is" in execute && execute.is === "function";
  if (execute !== undefined && !runs) return { broken: "its execute is not a function", name };
  const target = take(
    "executionTarget",
    (value) => TARGETS.includes(value),
    HOST_NAMES.test(name) ? "host" : "sandbox",
  );
  const more = Object.fromEntries(
    Object.entries(MORE).flatMap(([each, fits]) => {
      const value = take<unknown>(each, fits, undefined);
      return value === undefined ? [] : [[each, value]];
    }),
  ) as FileDefinition["more"];
  if (Object.hasOwn(members, "format_preview")) warnings.push(NO_PREVIEW);
  return {
    warnings,
    definition: {
      name,
      description: take("description", isText, ""),
      input_schema: schema === undefined ? EMPTY_SCHEMA : schema as JsonSchema,
      risk: take<Risk | null>("defaultRiskLevel", (value) => RISKS.includes(value), null),
      category: take<string | null>("category", isText, null),
      target: target as FileDefinition["target"],
      exclusive: take("exclusive", isSwitch, false),
      runs,
      more,
    },
  };
}

/** True if a member could not be serialized, so that its placeholder is not its value. */
function isMarker(members: Readonly<Record<string, Member>>, name: string): boolean {
  return !("value" in members[name]!);
}

/** The members of a definition in a data file. */
export function membersOf(data: Readonly<Record<string, unknown>>): Record<string, Member> {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, { value }]));
}
