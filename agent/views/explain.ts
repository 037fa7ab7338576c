// Explains the decision about a call: the answer of each resolver, the effect of rules on its parts, and the
// location of the rule.

import { failed, type Outcome, success } from "../../base/problem.ts";
import type { ToolSettings } from "../../config/settings.generated.ts";
import { liveCalls } from "../../cycle/plan/open_calls.ts";
import { resolveAll, type TargetSpec } from "../../cycle/plan/targets.ts";
import { isLifecycle } from "../../parser/text/status_words.ts";
import type { Call, Chat } from "../../parser/types.ts";
import { type Decide, reasonsOf, type RuleEvaluator } from "../../tools/approval/mod.ts";
import type { ExplainedCall } from "../types.ts";

export interface ExplainSources {
  readonly decide: Decide;
  readonly rules: RuleEvaluator | null;
  readonly settings: ToolSettings;
  preview(call: Call): string;
}

/** Explains the named calls; without names, the open ones. Fails like `approve` if a name matches no call. */
export async function explainCalls(
  chat: Chat,
  targets: readonly TargetSpec[],
  sources: ExplainSources,
): Promise<Outcome<readonly ExplainedCall[]>> {
  const named = targets.length === 0 ? null : resolveAll(chat, targets);
  if (named !== null && !named.ok) return failed(named.problem);
  const meant = named === null ? null : new Set(named.value.ids);
  const isMeant = (id: string) => meant === null ? isOpen(chat, id) : meant.has(id);
  const found: ExplainedCall[] = [];
  for (const call of liveCalls(chat)) {
    if (isMeant(call.id)) found.push(await explainCall(call, sources));
  }
  return success(found);
}

function isOpen(chat: Chat, id: string): boolean {
  const result = chat.result(id);
  return result === undefined || isLifecycle(result.status);
}

/** Explains one call, which need not be in a document. */
export async function explainCall(
  call: Pick<Call, "id" | "name" | "input">,
  { decide, rules, settings, preview }: Omit<ExplainSources, "preview"> & { preview(call: Call): string },
): Promise<ExplainedCall> {
  const decided = await decide(call, { explain: true });
  return {
    id: call.id,
    tool: call.name,
    preview: preview(call as Call),
    decision: decided.decision,
    source: decided.source,
    ...await reasonsOf(decided, call, rules),
    profile: settings.approval_profile,
  };
}
