// The shape that the input schemas of all built-in tools share: strict, every member required, optional ones nullable.

import type { JsonSchema } from "../definition.ts";

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
