// Texts as lines, for merging. Finds where two texts differ, and combines three texts.

/**
 * A range of lines that differs: lines `from` to `to` of one text (0-based, half-open) became the lines from `at` on
 * of another.
 */
export interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly lines: readonly string[];
}

/** Returns lines with their line ends, so that joining them gives the same bytes. */
export function splitLines(bytes: Uint8Array): string[] {
  if (bytes.length === 0) return [];
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).split(/(?<=\n)/);
}

export function joinLines(lines: readonly string[]): Uint8Array {
  return new TextEncoder().encode(lines.join(""));
}

/** Returns what two lines must share to count as equal. Trailing whitespace and line ends are ignored. */
export function lineKey(line: string): string {
  return line.trimEnd();
}

/** Returns the number of lines that only one of the two texts has. */
export function countChangedLines(hunks: readonly Hunk[]): number {
  return hunks.reduce((sum, { from, to, lines }) => sum + to - from + lines.length, 0);
}

/**
 * Returns the changed version of a line of which either side may have changed whitespace or the line end. If both
 * changed it, returns ours.
 */
export function pickLine(base: string, ours: string, theirs: string): string {
  return ours === base ? theirs : ours;
}

/** Adds a missing line end to every line but the last. */
export function addLineEnds(lines: readonly string[], eol: string): string[] {
  return lines.map((line, at) => at < lines.length - 1 && !line.endsWith("\n") ? line + eol : line);
}

/** Number of edit steps beyond which two texts are too different to merge. */
const MAX_STEPS = 1000;

/**
 * Returns the smallest changed line ranges from `a` to `b`, compared by `key` (Myers' greedy algorithm); null if there
 * are more than `MAX_STEPS` steps.
 */
export function difference(
  a: readonly string[],
  b: readonly string[],
  key: (line: string) => string = lineKey,
): Hunk[] | null {
  const keysA = a.map(key);
  const keysB = b.map(key);
  let head = 0;
  while (head < a.length && head < b.length && keysA[head] === keysB[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && keysA.at(-1 - tail) === keysB.at(-1 - tail)) {
    tail++;
  }
  const pairs = commonLines(keysA.slice(head, a.length - tail), keysB.slice(head, b.length - tail));
  if (pairs === null) return null;
  const anchors = [
    ...pairs.map(([x, y]) => [x + head, y + head] as const),
    [a.length - tail, b.length - tail] as const,
  ];
  const hunks: Hunk[] = [];
  let fromA = head;
  let fromB = head;
  for (const [x, y] of anchors) {
    if (x > fromA || y > fromB) hunks.push({ from: fromA, to: x, at: fromB, lines: b.slice(fromB, y) });
    fromA = x + 1;
    fromB = y + 1;
  }
  return hunks;
}

/** Returns pairs of equal lines of a longest common subsequence. */
function commonLines(a: readonly string[], b: readonly string[]): [number, number][] | null {
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let steps = 0; steps <= MAX_STEPS; steps++) {
    const next = new Map<number, number>();
    for (let k = -steps; k <= steps; k += 2) {
      const down = k === -steps || (k !== steps && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? reach.get(k + 1) ?? 0 : (reach.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return backtrack(a, b, [...trace, next]);
    }
    trace.push(next);
    reach = next;
  }
  return null;
}

function backtrack(
  a: readonly string[],
  b: readonly string[],
  trace: readonly Map<number, number>[],
): [number, number][] {
  const pairs: [number, number][] = [];
  let x = a.length;
  let y = b.length;
  for (let steps = trace.length - 1; steps >= 0; steps--) {
    const k = x - y;
    const before = trace[steps - 1];
    const down = k === -steps ||
      (k !== steps && (before?.get(k - 1) ?? -1) < (before?.get(k + 1) ?? -1));
    const previousK = down ? k + 1 : k - 1;
    const startX = steps === 0 ? 0 : before?.get(previousK) ?? 0;
    const startY = steps === 0 ? 0 : startX - previousK;
    while (x > startX && y > startY && a[x - 1] === b[y - 1]) pairs.push([--x, --y]);
    x = startX;
    y = startY;
  }
  return pairs.reverse();
}
