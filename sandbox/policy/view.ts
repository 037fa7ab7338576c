// Decides from plain data what of the file system is visible under a policy, so that another process can decide too.

import { isInside } from "../../base/paths.ts";
import type { PathView } from "../types.ts";

/** Nothing is hidden. */
export const WHOLE_VIEW: PathView = { hidden: [], shown: [], replaced: [], kept: [] };

/** Whether a real path is visible. */
export function isSeen(real: string, { hidden, shown, replaced, kept }: PathView): boolean {
  const inside = (paths: readonly string[]) => paths.some((path) => isInside(real, path));
  if (inside(replaced) && !inside(kept)) return false;
  const longest = (paths: readonly string[]) =>
    Math.max(-1, ...paths.filter((path) => isInside(real, path)).map((path) => path.length));
  const deepest = longest(hidden);
  return deepest < 0 || deepest < longest(shown);
}
