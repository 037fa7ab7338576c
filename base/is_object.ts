// Checks for JSON objects, and safe access to their members.

/** True if a value is an object with members, and not an array or null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns the member with this name if the table itself has it, else undefined. Names may come from an untrusted text,
 * and every object inherits members such as `constructor`.
 */
export function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** True if all these members of a value from another source are strings. */
export function hasTexts(value: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === "string");
}

/** True for a count or a size. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Returns a value from another source if it is a string, else the empty string. */
export function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
