// The calls that a command line names.

import type { TargetSpec } from "../../cycle/plan/targets.ts";
import type { CallTarget } from "../../agent/types.ts";
import { type Arguments, numberOption, switchOption, textOption } from "./options.ts";

/**
 * Returns the calls that words and options name. If they name none, returns the only pending call. With `exact`, a line
 * names only a call on it.
 */
export function targetsOf(
  words: readonly string[],
  given: Arguments,
  { exact = false }: { readonly exact?: boolean } = {},
): readonly CallTarget[] {
  const line = numberOption(given, "line");
  const tool = textOption(given, "tool");
  const targets: CallTarget[] = [
    ...words,
    ...(line === undefined ? [] : [{ kind: "line", line, exact } as const]),
    ...(tool === undefined ? [] : [{ kind: "tool", name: tool } as const]),
    ...(switchOption(given, "all") === true ? [{ kind: "all" } as const] : []),
  ];
  return targets.length > 0 ? targets : [{ kind: "only" }];
}

/** Returns the target in the form that the cycle uses. */
export function specOf(target: CallTarget): TargetSpec {
  return typeof target === "string" ? { kind: "id", text: target } : target;
}
