// The calls a command line points at (cli section 6).

import { failure, type Outcome, success } from "../../base/problem.ts";
import { resolveTargets, type TargetSpec } from "../../cycle/plan/targets.ts";
import type { Chat } from "../../parser/types.ts";
import { type Arguments, numberOption, switchOption, textOption } from "../line/options.ts";

/** The ids that words and options name, each once, in the order they were named. */
export function targetIds(chat: Chat, words: readonly string[], given: Arguments): Outcome<string[]> {
  const line = numberOption(given, "line");
  const tool = textOption(given, "tool");
  const specs: TargetSpec[] = [
    ...words.map((text): TargetSpec => ({ kind: "id", text })),
    ...(line === undefined ? [] : [{ kind: "line", line } as const]),
    ...(tool === undefined ? [] : [{ kind: "tool", name: tool } as const]),
    ...(switchOption(given, "all") === true ? [{ kind: "all" } as const] : []),
  ];
  if (specs.length === 0) specs.push({ kind: "only" });
  const ids = new Set<string>();
  for (const spec of specs) {
    const found = resolveTargets(chat, spec);
    if (!found.ok) return found;
    for (const id of found.value) ids.add(id);
  }
  return ids.size === 0 ? failure("unknown-call", "No call is meant.") : success([...ids]);
}
