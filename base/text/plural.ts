// Counts with their noun.

/** `1 file`, `2 files`; `many` where an "s" is not enough. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
