// Names for the origin of a rule, for rules without a line in a file.

import type { PlacedRule } from "./rule.ts";

const OWNERS: Readonly<Record<PlacedRule["layer"], string>> = {
  G: "your settings",
  P: "the project",
  R: "this session",
  M: "the frontmatter",
  C: "the command line",
};

export function byLayer(layer: PlacedRule["layer"]): string {
  return OWNERS[layer];
}
