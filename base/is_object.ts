// Whether a value is an object as JSON has them.

/** Whether a value is an object with members: no list, no null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
