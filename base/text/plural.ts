// Counts with their noun.

/** Formats a count with its noun, as in `1 file` or `2 files`; `many` is the plural if an "s" is not enough. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
