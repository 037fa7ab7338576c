// The nearest name to a mistyped one, for "did you mean".

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

/** The candidate within edit distance 3 (and nearer than the whole name) of `name`, or null. */
export function nearest(name: string, candidates: Iterable<string>): string | null {
  let best: string | null = null;
  let least = Math.min(3, Math.max(1, name.length - 1)) + 1;
  for (const candidate of candidates) {
    const edits = distance(name, candidate);
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}
