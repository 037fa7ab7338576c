// What the definitions of built-in tools share: strict schemas, the members of a tool for files, and short readers of input.

import type { BuiltinTool, JsonSchema } from "../definition.ts";

/** A tool that works on the file or folder at its path, through the sandbox's own access to files. */
const ON_FILES = { strict: true, runs: "inside", path_input: "path", on_disk: true } as const;

/** A tool that reads at its path. */
export const READS_FILES = { ...ON_FILES, effects: "reads", files: "read" } as const satisfies Partial<
  BuiltinTool
>;

/** A tool that writes the file at its path. */
export const WRITES_FILES = {
  ...ON_FILES,
  effects: "writes",
  files: "write",
} as const satisfies Partial<BuiltinTool>;

/** A strict schema over `label` and the members given; `required` keeps their order. */
export function strictSchema(members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return strictObject({
    label: { type: "string", description: "A few words on what this call is for, shown to the person." },
    ...members,
  });
}

/** A strict schema over the members given and nothing else. */
export function strictObject(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/** The label as the end of a preview; nothing when there is none. */
export function labelComment(input: Readonly<Record<string, unknown>>): string {
  return typeof input.label === "string" && input.label !== "" ? `  # ${input.label}` : "";
}

/** A string member, or the empty string. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A number without its fraction, at least 1. */
export function wholeNumber(value: unknown, otherwise: number): number {
  return typeof value === "number" ? Math.max(1, Math.floor(value)) : otherwise;
}
