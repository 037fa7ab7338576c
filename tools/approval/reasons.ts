// Why a call is decided as it is, as data: what each resolver said, what rules made of its parts, where a rule stands.

import { ruleText } from "../../config/rules/read_rule.ts";
import type { PlacedRule } from "../../config/rules/rule.ts";
import type { RuleEvaluator } from "./rules/resolvers.ts";
import type { ApprovalDecision, ChainLink } from "./types.ts";

/** A rule as a person finds it again. */
export interface ExplainedRule {
  /** `FILE:LINE:COL`, or whose it is where no line of a file says it. */
  readonly place: string;
  /** The settings file; null where no line of one says it. */
  readonly file: string | null;
  /** The line of that file, 1-based. */
  readonly line: number | null;
  /** The rule in one line. */
  readonly text: string;
  /** Why, if the rule says so. */
  readonly reason: string | null;
}

/** A simple command of a call, as rules about commands see it. */
export interface ExplainedCommand {
  /** As it stands. */
  readonly text: string;
  /** Its words; null for those that only the shell knows. */
  readonly words: readonly (string | null)[];
  /** Why it could not be read for an approval. */
  readonly opaque: string | null;
  /** The rule that approves it. */
  readonly rule: ExplainedRule | null;
  /** Why none does. */
  readonly why: string | null;
}

/** Why a call is decided as it is. */
export interface CallReasons {
  /** Why, in one line, where that says more. */
  readonly detail: string | null;
  /** The rule that decided. */
  readonly rule: ExplainedRule | null;
  /** What each resolver said, in the order they are asked; after the one that decided only those of the program. */
  readonly chain: readonly ChainLink[];
  /** The simple commands of a command, where rules about commands exist. */
  readonly commands: readonly ExplainedCommand[];
  /** The path of the call, where rules exist: as it was asked for, absolute, and where it leads. */
  readonly path: { readonly asked: string; readonly real: string | null } | null;
}

/**
 * The reasons of a verdict about a call.
 *
 * @param rules those that were asked; null when there are none
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

/** What rules say; null where there are none, or where they cannot be judged, which the verdict tells. */
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

/** Those that always may have something to say, and what it means that one is not there. */
const EXPECTED: readonly ChainLink[] = [
  absent("urn:flemma:approval:rules", 110, "no rule asks or denies"),
  absent("urn:flemma:approval:frontmatter", 90, "the document does not set tools.auto_approve"),
  absent("urn:flemma:approval:approve-rules", 80, "no rule approves, and nothing is named for this run"),
];

/** The chain with those that have nothing to go by; downgrades come last. */
function wholeChain({ chain = [] }: ApprovalDecision): readonly ChainLink[] {
  if (chain.length === 0) return [];
  const missing = EXPECTED.filter(({ name }) => !chain.some((link) => link.name === name));
  return [...chain, ...missing].sort((a, b) => b.priority - a.priority);
}

function absent(name: string, priority: number, detail: string): ChainLink {
  return { name, priority, answer: "absent", detail };
}
