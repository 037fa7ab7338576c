// Names in messages: finds the name nearest to a mistyped one, and shortens lists.

/** Returns the number of edits (insert, delete, replace; a swap of neighbors counts as two) between two short names. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}

/**
 * Returns the candidate within `limit` edits of `name`, or null. If several candidates are equally near, returns the
 * alphabetically first one. The default limit is 3 edits, or half the length of the name if less, so that short names
 * do not match everything.
 */
export function nearest(name: string, candidates: Iterable<string>, limit?: number): string | null {
  let best: string | null = null;
  let least = (limit ?? Math.min(3, Math.max(1, Math.ceil(name.length / 2)))) + 1;
  // A candidate of very different length cannot be near; skipping it bounds the time for hostile input.
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least + 1) continue;
    const edits = editDistance(name, candidate);
    if (edits < least || (edits === least && best !== null && candidate < best)) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

/** Maximum number of names in a sentence; further ones are only counted. */
const MOST_NAMED = 10;

/** Returns names for a sentence: `a, b, c`; of a long list the first ten, and how many more there are. */
export function joinNames(names: readonly string[]): string {
  // If only one name is left, the words "and 1 more" would take as much space as the name.
  if (names.length <= MOST_NAMED + 1) return names.join(", ");
  return `${names.slice(0, MOST_NAMED).join(", ")} and ${names.length - MOST_NAMED} more`;
}
