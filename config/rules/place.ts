// Whose a rule is, in words for a person, where no line of a file can be named.

import type { PlacedRule } from "./rule.ts";

const OWNERS: Readonly<Record<PlacedRule["layer"], string>> = {
  G: "your settings",
  P: "the project",
  R: "this login",
  M: "the first block",
  C: "the command line",
};

/** Whose a rule is. */
export function byLayer(layer: PlacedRule["layer"]): string {
  return OWNERS[layer];
}
