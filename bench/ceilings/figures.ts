// Figures of the limits: time and memory of one case in growing sizes, each relative to the smallest.

import type { Figure } from "../harness.ts";
import type { Spent } from "./run.ts";

/** Limits for the largest size. */
export interface Ceiling {
  /** Maximum multiple of the smallest size's processor time. */
  readonly time?: number;
  /** Maximum memory in MB. */
  readonly memory?: number;
}

/** The figures of one case; `sizes` ascend, and the first is the reference for the others. */
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
