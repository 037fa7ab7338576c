// Paths in results that have one path on each line.

/**
 * Returns the path for a line of its own. A path with control characters would break the line, so it is written as
 * JSON.
 */
export function pathOnOneLine(path: string): string {
  // deno-lint-ignore no-control-regex -- the range is what must not be on a line
  return /[\x00-\x1f\x7f]/.test(path) ? JSON.stringify(path) : path;
}
