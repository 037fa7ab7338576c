// Resolvers made of rules. Rules that ask or deny come before lists, and rules that approve come after lists.

import type { PlacedRule } from "../../../config/rules/rule.ts";
import { ruleText } from "../../../config/rules/read_rule.ts";
import type { ResolverDefinition } from "../types.ts";
import type { RuleEvaluation } from "./types.ts";

/** Evaluates the rules of a document. */
export interface RuleEvaluator {
  /** True if any rule asks or denies. */
  readonly restricts: boolean;
  /** True if any rule approves. */
  readonly approves: boolean;
  /** Evaluates a call; the same input object gets the same evaluation again. */
  evaluate(tool: string, input: Readonly<Record<string, unknown>>): Promise<RuleEvaluation>;
  /** Returns where a rule is written, for a person: `FILE:LINE`, or its origin. */
  placeOf(rule: PlacedRule): string;
}

/**
 * Answers if a rule asks or denies. A rule that cannot be evaluated might have asked or denied, so a person is asked.
 */
export function restrictingRules(rules: RuleEvaluator): ResolverDefinition {
  return {
    priority: 110,
    description: "rules that ask or deny",
    async resolve(tool, input) {
      try {
        return (await rules.evaluate(tool, input)).restriction?.decision ?? null;
      } catch {
        return "require_approval"; // `why` reports the failure.
      }
    },
    async why(tool, input) {
      const { restriction } = await rules.evaluate(tool, input);
      if (restriction === null) return null;
      const { decision, rule, part, unsure } = restriction;
      const reason = rule.rule.reason === undefined ? "" : `: ${rule.rule.reason}`;
      const doubt = unsure === null ? "" : `; it asks instead of denying because ${unsure}`;
      return {
        detail: `${rules.placeOf(rule)} says ${ruleText(rule.rule)}${doubt}${reason}`,
        rule,
        ...(decision === "deny" ? { forModel: describeForModel(rule, part) } : {}),
      };
    },
    explain: async (tool, input) =>
      (await rules.evaluate(tool, input)).restriction === null ? ["no ask or deny rule matches"] : [],
  };
}

/** Answers if rules approve every part of a call. */
export function approvingRules(rules: RuleEvaluator): ResolverDefinition {
  return {
    priority: 80,
    description: "rules that approve",
    resolve: async (tool, input) => ((await rules.evaluate(tool, input)).approved ? "approve" : null),
    async why(tool, input) {
      const { approval } = await rules.evaluate(tool, input);
      if (approval === null) return null;
      return { detail: `${rules.placeOf(approval)} says ${ruleText(approval.rule)}`, rule: approval };
    },
    async explain(tool, input) {
      const { commands, approval, why } = await rules.evaluate(tool, input);
      if (commands.length === 0) {
        return [approval === null ? why ?? "no rule approves it" : describeReason(rules, approval)];
      }
      const parts = commands.map(({ text, rule, why: obstacle }, at) =>
        `part ${at + 1} "${text}": ${rule === null ? obstacle : describeReason(rules, rule)}`
      );
      return commands.every(({ rule }) => rule !== null) && why !== null ? [...parts, why] : parts;
    },
  };
}

function describeReason(rules: RuleEvaluator, rule: PlacedRule): string {
  return `${rules.placeOf(rule)} ${ruleText(rule.rule)}`;
}

/** Returns what the model reads about a denial: the denied part, the rule, and the reason if the rule gives one. */
function describeForModel({ rule }: PlacedRule, part: string): string {
  const given = rule.reason?.replace(/[.\s]*$/, "");
  const reason = given === undefined ? "" : ` ${given.slice(0, 1).toUpperCase()}${given.slice(1)}.`;
  const patterns = rule.command ?? rule.path;
  const what = patterns === undefined ? rule.tools.join(", ") : patterns.map(({ text }) => text).join(", ");
  return `This call was denied by policy and did not run: "${part}" is not allowed (${what}).${reason}`;
}
