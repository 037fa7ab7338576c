// Explains a decision as data: what each resolver answered, how rules evaluated the parts of a call, and where a rule
// is written.

import { ruleText } from "../../config/rules/read_rule.ts";
import type { PlacedRule } from "../../config/rules/rule.ts";
import type { RuleEvaluator } from "./rules/resolvers.ts";
import type { ApprovalDecision, ChainLink } from "./types.ts";

/** A rule and its position in the settings. */
export interface ExplainedRule {
  /** `FILE:LINE:COL`, or the origin of a rule that is not in a file. */
  readonly place: string;
  /** The settings file; null if the rule is not in a file. */
  readonly file: string | null;
  /** The line of that file, 1-based. */
  readonly line: number | null;
  /** The rule in one line. */
  readonly text: string;
  /** The reason that the rule gives, if any. */
  readonly reason: string | null;
}

/** A simple command of a call, as command rules see it. */
export interface ExplainedCommand {
  /** Source text of the command. */
  readonly text: string;
  /** Words of the command; null for words that only the shell can expand. */
  readonly words: readonly (string | null)[];
  /** Reason why the command could not be read for an approval. */
  readonly opaque: string | null;
  /** The rule that approves the command. */
  readonly rule: ExplainedRule | null;
  /** Reason why no rule approves the command. */
  readonly why: string | null;
}

/** Explanation of the decision about a call. */
export interface CallReasons {
  /** Reason for the decision in one line, if that adds anything. */
  readonly detail: string | null;
  /** The rule that decided. */
  readonly rule: ExplainedRule | null;
  /**
   * Answers of the resolvers, in the order in which they are asked. After the resolver that decided, only built-in
   * resolvers are listed.
   */
  readonly chain: readonly ChainLink[];
  /** The simple commands of a command, if rules about commands exist. */
  readonly commands: readonly ExplainedCommand[];
  /** The path of the call, if rules exist: the requested absolute path, and where it leads. */
  readonly path: { readonly asked: string; readonly real: string | null } | null;
}

/**
 * Explains a decision about a call.
 *
 * @param rules the rules that were evaluated; null if there are none
 */
export async function reasonsOf(
  decided: ApprovalDecision,
  { name, input }: { readonly name: string; readonly input: Readonly<Record<string, unknown>> },
  rules: RuleEvaluator | null,
): Promise<CallReasons> {
  const evaluated = await evaluateRules(rules, name, input);
  return {
    detail: decided.detail ?? null,
    rule: decided.rule === undefined ? null : explainedRule(decided.rule, rules),
    chain: wholeChain(decided),
    commands: (evaluated?.commands ?? []).map(({ rule, ...command }) => ({
      ...command,
      rule: rule === null ? null : explainedRule(rule, rules),
    })),
    path: evaluated?.path ?? null,
  };
}

/**
 * Returns how rules evaluate the call; null if there are no rules, or if they cannot be evaluated. The decision
 * already reports the second case.
 */
async function evaluateRules(
  rules: RuleEvaluator | null,
  name: string,
  input: Readonly<Record<string, unknown>>,
) {
  try {
    return await rules?.evaluate(name, input) ?? null;
  } catch {
    return null;
  }
}

function explainedRule(rule: PlacedRule, rules: RuleEvaluator | null): ExplainedRule {
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

/** Answers to show for built-in resolvers that are missing from the chain, with the reason why each is missing. */
const EXPECTED: readonly ChainLink[] = [
  absent("urn:flemma:approval:rules", 110, "no rule asks or denies"),
  absent("urn:flemma:approval:frontmatter", 90, "the document does not set tools.auto_approve"),
  absent("urn:flemma:approval:approve-rules", 80, "no rule approves, and no tool is named for this run"),
];

/** Returns the chain with the missing resolvers added; downgrades come last. */
function wholeChain({ chain = [] }: ApprovalDecision): readonly ChainLink[] {
  if (chain.length === 0) return [];
  const missing = EXPECTED.filter(({ name }) => !chain.some((link) => link.name === name));
  return [...chain, ...missing].sort((a, b) => b.priority - a.priority);
}

function absent(name: string, priority: number, detail: string): ChainLink {
  return { name, priority, answer: "absent", detail };
}
