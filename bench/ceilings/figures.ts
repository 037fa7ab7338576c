// Figures of the limits: time and memory of one thing in growing sizes, each size beside the smallest.

import type { Figure } from "../harness.ts";
import type { Spent } from "./run.ts";

/** What may be expected of the largest size. */
export interface Ceiling {
  /** How many times the processor's time of the smallest size. */
  readonly time?: number;
  /** MB of memory. */
  readonly memory?: number;
}

/** The figures of one thing; `sizes` ascend, and the first is what the others are told by. */
export function growth(
  what: string,
  sizes: readonly { readonly name: string; readonly spent: Spent }[],
  ceiling: Ceiling = {},
): Figure[] {
  const last = sizes.length - 1;
  const time = (at: number) => `${what}, ${sizes[at]!.name}: time`;
  return sizes.flatMap(({ name, spent }, at): Figure[] => [
    {
      case: time(at),
      value: spent.milliseconds,
      unit: "ms",
      ...(at === 0 ? {} : { against: time(0) }),
      ...(at === last && ceiling.time !== undefined ? { goal: ceiling.time } : {}),
    },
    {
      case: `${what}, ${name}: memory`,
      value: spent.memory,
      unit: "MB",
      ...(at === last && ceiling.memory !== undefined ? { goal: ceiling.memory } : {}),
    },
  ]);
}
