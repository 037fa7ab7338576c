// Decides which paths are visible under a policy. It needs only plain data, so another process can make the same
// decision.

import { isInside } from "../../base/paths.ts";
import type { PathView } from "../types.ts";

/** The view in which nothing is hidden. */
export const WHOLE_VIEW: PathView = { hidden: [], shown: [], replaced: [], kept: [] };

/** True if a real path is visible. */
export function isSeen(real: string, { hidden, shown, replaced, kept }: PathView): boolean {
  const inside = (paths: readonly string[]) => paths.some((path) => isInside(real, path));
  if (inside(replaced) && !inside(kept)) return false;
  const longest = (paths: readonly string[]) =>
    Math.max(-1, ...paths.filter((path) => isInside(real, path)).map((path) => path.length));
  const deepest = longest(hidden);
  return deepest < 0 || deepest < longest(shown);
}
