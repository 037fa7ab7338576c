// Shared parts of built-in tool definitions: strict schemas, members of file tools, and input readers.

import type { BuiltinTool, JsonSchema } from "../definition.ts";

/**
 * Members of the definition of a tool that works on the file or folder at its path, through the sandbox's file access.
 */
const ON_FILES = { strict: true, runs: "inside", path_input: "path", on_disk: true } as const;

export const READS_FILES = { ...ON_FILES, effects: "reads", files: "read" } as const satisfies Partial<
  BuiltinTool
>;

export const WRITES_FILES = {
  ...ON_FILES,
  effects: "writes",
  files: "write",
} as const satisfies Partial<BuiltinTool>;

/** Returns a strict schema with the member `label` and the given members. `required` lists them in the same order. */
export function strictSchema(members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return strictObject({
    label: { type: "string", description: "Purpose of this call in a few words, shown to the user." },
    ...members,
  });
}

/** A strict schema with exactly the given members. */
export function strictObject(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/** Returns the label as the end of a preview; empty if there is none. */
export function labelComment(input: Readonly<Record<string, unknown>>): string {
  return typeof input.label === "string" && input.label !== "" ? `  # ${input.label}` : "";
}

/** Rounds a number down, to at least 1. */
export function wholeNumber(value: unknown, otherwise: number): number {
  return typeof value === "number" ? Math.max(1, Math.floor(value)) : otherwise;
}
