// Compares two checkouts of the program: pair by pair, so that a busy moment affects both, with one ratio per pair.

import { type Figure, median } from "./harness.ts";

/** Enough pairs for a confidence interval of the median that shows two per cent. */
export const PAIRS = 61;

/** Maximum ratio for a change that should cost nothing. */
export const SAME = 1.02;

/** The cost of one run, by measure, such as wall-clock and processor time. */
export type Costs = Readonly<Record<string, number>>;

export interface Pair {
  readonly ours: () => Costs | Promise<Costs>;
  readonly theirs: () => Costs | Promise<Costs>;
}

/**
 * Runs both versions of each case `count` times, alternating which goes first, and returns for each measure the median
 * of the ratios ours ÷ theirs with its 95% confidence interval. One unmeasured pair goes first.
 */
export async function compare(cases: Readonly<Record<string, Pair>>, count = PAIRS): Promise<Figure[]> {
  const ratios = new Map<string, number[]>();
  for (let round = -1; round < count; round++) {
    for (const [name, { ours, theirs }] of Object.entries(cases)) {
      const first = round % 2 === 0 ? await ours() : null;
      const other = await theirs();
      const own = first ?? await ours();
      if (round < 0) continue;
      for (const measure of Object.keys(own)) {
        const key = `${name}, ${measure}`;
        ratios.set(key, [...ratios.get(key) ?? [], own[measure]! / other[measure]!]);
      }
    }
  }
  return [...ratios].map(([name, values]) => ({
    case: name,
    value: median(values),
    unit: "× theirs",
    interval: medianInterval(values),
    goal: SAME,
  }));
}

/**
 * The interval that contains the true median with a probability of at least 95%, for any distribution: the order
 * statistics beyond which too few values would lie (binomial with one half). The whole range for fewer than six values,
 * which do not suffice for that.
 */
export function medianInterval(values: readonly number[]): readonly [number, number] {
  const sorted = [...values].sort((a, b) => a - b);
  const count = sorted.length;
  let outside = 0;
  let chance = 0.5 ** count;
  let below = 0;
  for (; outside + chance <= 0.025; below++) {
    outside += chance;
    chance *= (count - below) / (below + 1);
  }
  const rank = Math.max(0, below - 1);
  return [sorted[rank]!, sorted[count - 1 - rank]!];
}
