// Members of events that may be missing or of another type than the API promises.

/** A text, or the empty one. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A number, or null. */
export function count(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A list, or an empty one. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
