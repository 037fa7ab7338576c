// Why a call is decided as it is: what each resolver said, what rules made of its parts, where the rule stands.

import { failed, type Outcome, success } from "../../base/problem.ts";
import type { PlacedRule } from "../../config/rules/rule.ts";
import { ruleText } from "../../config/rules/read_rule.ts";
import type { ToolSettings } from "../../config/settings.ts";
import { liveCalls } from "../../cycle/plan/open_calls.ts";
import { resolveAll, type TargetSpec } from "../../cycle/plan/targets.ts";
import type { Call, Chat } from "../../parser/types.ts";
import type { ChainLink, RuleJudge, Verdict } from "../../tools/approval/mod.ts";
import type { Decide } from "../trust/stranger.ts";
import type { ExplainedCall, ExplainedRule } from "../types.ts";

/** Who is asked about a call, and by what. */
export interface ExplainSources {
  readonly decide: Decide;
  readonly rules: RuleJudge | null;
  readonly settings: ToolSettings;
  preview(call: Call): string;
}

/** Explains the calls that are named; without any, those that are open. Fails like `approve` for a name of none. */
export async function explainCalls(
  chat: Chat,
  targets: readonly TargetSpec[],
  sources: ExplainSources,
): Promise<Outcome<readonly ExplainedCall[]>> {
  const named = targets.length === 0 ? null : resolveAll(chat, targets);
  if (named !== null && !named.ok) return failed(named.problem);
  const isMeant = (id: string) => named === null ? isOpen(chat, id) : named.value.ids.includes(id);
  const found: ExplainedCall[] = [];
  for (const call of liveCalls(chat)) {
    if (isMeant(call.id)) found.push(await explainCall(call, sources));
  }
  return success(found);
}

/** Whether a call has no final result. */
function isOpen(chat: Chat, id: string): boolean {
  const result = chat.result(id);
  return result === undefined || (result.status !== null && result.status !== "error");
}

/** Explains one call, which need not stand in a document. */
export async function explainCall(
  call: Pick<Call, "id" | "name" | "input">,
  { decide, rules, settings, preview }: Omit<ExplainSources, "preview"> & {
    readonly preview: (call: Call) => string;
  },
): Promise<ExplainedCall> {
  const verdict = await decide(call, { explain: true });
  const judged = await rules?.judge(call.name, call.input) ?? null;
  return {
    id: call.id,
    tool: call.name,
    preview: preview(call as Call),
    decision: verdict.decision,
    source: verdict.source,
    detail: verdict.detail ?? null,
    rule: verdict.rule === undefined ? null : placed(verdict.rule, rules),
    chain: wholeChain(verdict),
    commands: (judged?.commands ?? []).map(({ text, words, opaque, rule, why }) => ({
      text,
      words,
      opaque,
      rule: rule === null ? null : placed(rule, rules),
      why,
    })),
    path: judged?.path ?? null,
    profile: settings.approval_profile,
  };
}

function placed(rule: PlacedRule, rules: RuleJudge | null): ExplainedRule {
  const place = rules?.placeOf(rule) ?? "";
  const found = /^(.*):(\d+):\d+$/s.exec(place);
  return {
    place,
    file: found?.[1] ?? null,
    line: found === null ? null : Number(found[2]),
    text: ruleText(rule.rule),
    reason: rule.rule.reason ?? null,
  };
}

/** Those that always may have something to say, and what it means that one is not there. */
const EXPECTED: readonly ChainLink[] = [
  absent("urn:flemma:approval:rules", 110, "no rule asks or denies"),
  absent("urn:flemma:approval:frontmatter", 90, "the document does not set tools.auto_approve"),
  absent("urn:flemma:approval:approve-rules", 80, "no rule approves, and nothing is named for this run"),
];

/** The chain with those that have nothing to go by, and what was said after it. */
function wholeChain({ chain = [], source, decision, detail }: Verdict): readonly ChainLink[] {
  const missing = EXPECTED.filter(({ name }) => !chain.some((link) => link.name === name));
  const whole = [...chain, ...missing].sort((a, b) => b.priority - a.priority);
  if (source === "default" || whole.some(({ name }) => name === source)) return whole;
  // Somebody who looks at verdicts lowered it: a trust that is missing, a file that others obey.
  return [...whole, {
    name: source,
    priority: -1,
    answer: decision,
    detail: detail === undefined ? [] : [detail],
  }];
}

function absent(name: string, priority: number, detail: string): ChainLink {
  return { name, priority, answer: "absent", detail: [detail] };
}
