// Paths in answers that have a line for each.

/** A path on a line of its own: one with control characters would break the line, and stands there as JSON. */
export function onOneLine(path: string): string {
  // deno-lint-ignore no-control-regex -- the range is what must not be on a line
  return /[\x00-\x1f\x7f]/.test(path) ? JSON.stringify(path) : path;
}
