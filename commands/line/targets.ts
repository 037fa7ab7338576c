// The calls a command line points at.

import type { TargetSpec } from "../../cycle/plan/targets.ts";
import type { CallTarget } from "../../agent/types.ts";
import { type Arguments, numberOption, switchOption, textOption } from "./options.ts";

/** The calls that words and options name; the only pending call when they name nothing. */
export function targetsOf(words: readonly string[], given: Arguments): readonly CallTarget[] {
  const line = numberOption(given, "line");
  const tool = textOption(given, "tool");
  const targets: CallTarget[] = [
    ...words,
    ...(line === undefined ? [] : [{ kind: "line", line } as const]),
    ...(tool === undefined ? [] : [{ kind: "tool", name: tool } as const]),
    ...(switchOption(given, "all") === true ? [{ kind: "all" } as const] : []),
  ];
  return targets.length > 0 ? targets : [{ kind: "only" }];
}

/** The same target as the cycle finds calls by. */
export function specOf(target: CallTarget): TargetSpec {
  return typeof target === "string" ? { kind: "id", text: target } : target;
}
