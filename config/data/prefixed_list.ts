// Lists of flemma.nvim whose items say what to do with them: `+add`, `^prepend`, `!remove`.

import type { Op } from "../types.ts";

/** The lists of flemma.nvim; in other lists, the first character of an item belongs to the item. */
const PREFIXED: ReadonlySet<string> = new Set(["tools", "tools.auto_approve", "sandbox.policy.rw_paths"]);

const STEPS: Readonly<Record<string, Op>> = { "+": "append", "^": "prepend", "!": "remove" };

/**
 * Returns the operations that a list stands for, in the order of its items; null if no item has a prefix. Items without
 * a prefix are the list with which the operations begin. If there are none, they begin with the list of earlier layers.
 */
export function prefixedSteps(key: string, value: unknown): readonly (readonly [Op, unknown])[] | null {
  if (!PREFIXED.has(key) || !Array.isArray(value) || !value.some(hasPrefix)) return null;
  const plain = value.filter((item) => !hasPrefix(item));
  const steps = value.filter(hasPrefix).map((item) => [STEPS[item[0]!]!, item.slice(1)] as const);
  return [...(plain.length === 0 ? [] : [["set", plain] as const]), ...steps];
}

/** Returns the items of a list that begins empty. A preset's list does, because it replaces the list of all layers. */
export function withoutPrefixes(items: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const item of items) {
    const step = hasPrefix(item) ? STEPS[item[0]!]! : null;
    const name = step === null ? item : item.slice(1);
    const at = found.indexOf(name);
    if (step !== null && at >= 0) found.splice(at, 1);
    if (step === "prepend") found.unshift(name);
    else if (step !== "remove") found.push(name);
  }
  return found;
}

function hasPrefix(item: unknown): item is string {
  return typeof item === "string" && item.length > 1 && Object.hasOwn(STEPS, item[0]!);
}
