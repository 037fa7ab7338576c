// Names in sentences: the nearest one to a mistyped one, and the first few of many.

/** Edits (insert, delete, replace, swap of neighbours counted as two) between two short names. */
export function distance(a: string, b: string): number {
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
 * The candidate within `limit` edits of `name`, or null; of several equally near ones the first in the alphabet.
 * By default at most 3 edits and half as many as the name has letters, so that no short name is like every other.
 */
export function nearest(name: string, candidates: Iterable<string>, limit?: number): string | null {
  let best: string | null = null;
  let least = (limit ?? Math.min(3, Math.max(1, Math.ceil(name.length / 2)))) + 1;
  // A name far longer than the limit allows cannot be near; the check keeps hostile input from costing time.
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least + 1) continue;
    const edits = distance(name, candidate);
    if (edits < least || (edits === least && best !== null && candidate < best)) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

/** Names that a sentence shows before it counts the rest. */
const MOST_NAMED = 10;

/** Names in a sentence: `a, b, c`; of many the first ten, and how many more there are. */
export function listed(names: readonly string[]): string {
  // One more takes no more room than the words about it.
  if (names.length <= MOST_NAMED + 1) return names.join(", ");
  return `${names.slice(0, MOST_NAMED).join(", ")} and ${names.length - MOST_NAMED} more`;
}
