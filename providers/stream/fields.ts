// Access to event members that may be missing or have an unexpected type.

/** Returns a string, or the empty one. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns a finite number, or null. */
export function count(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Returns an array, or an empty one. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
