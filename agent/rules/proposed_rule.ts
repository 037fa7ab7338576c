// Proposes the rule that approves similar calls from now on, unless a question or denial overrides such rules.

import { failure, type Outcome } from "../../base/problem.ts";
import type { WrittenRule } from "../../config/rules/read_rule.ts";
import type { Call } from "../../parser/types.ts";
import type { ProposedRule } from "../../tools/approval/rules/propose.ts";
import { rulePartsOf, type RuleSubject } from "../../tools/approval/rules_of.ts";
import type { Decide } from "../../tools/approval/downgrades.ts";
import type { ApprovalDecision } from "../../tools/approval/types.ts";
import { decidedBy } from "../review/decided_by.ts";
import { downgradesCall, type UntrustedDocument } from "../trust/untrusted.ts";

export interface RuleContext {
  readonly ruled: RuleSubject;
  readonly decide: Decide;
  /** Reason why policy may not approve the document's calls; null if it may. */
  readonly untrustedDocument: UntrustedDocument | null;
}

/** Proposes the narrowest rule that approves a call, or checks whether a written rule approves it. */
export async function ruleFor(
  call: Call,
  { ruled, decide, untrustedDocument }: RuleContext,
  written?: WrittenRule,
): Promise<Outcome<ProposedRule>> {
  const obstacle = downgradesCall(untrustedDocument, call, ruled.tools)
    ? untrustedDocument.sentence
    : aboveRules(await decide(call));
  if (obstacle !== null) return failure("rule-impossible", obstacle);
  const { checkedRule, proposeRule } = await import("../../tools/approval/rules/mod.ts");
  const parts = await rulePartsOf(ruled);
  return written === undefined ? await proposeRule(call, parts) : await checkedRule(written, call, parts);
}

/** Sources that have lower precedence than approving rules: an approving rule overrides their decision. */
const BELOW_RULES: ReadonlySet<string> = new Set([
  "default",
  "urn:flemma:approval:risk",
  "urn:flemma:approval:sandbox",
  "urn:flemma:approval:catch-all",
]);

/** Returns why an approving rule would not change a decision; null if it would. */
function aboveRules({ decision, source, rule }: ApprovalDecision): string | null {
  if (decision === "approve" || BELOW_RULES.has(source)) return null;
  const who = decidedBy(source, rule !== undefined);
  return `The call would wait again all the same: it is ${
    decision === "deny" ? "denied" : "asked about"
  } (${who}), and no rule that approves lifts that.`;
}
