// Types of the evaluation of rules for one call.

import type { PlacedRule } from "../../../config/rules/rule.ts";

/** Result for one simple command of a call. */
export interface EvaluatedCommand {
  /** Source text of the command. */
  readonly text: string;
  /** Words of the command; null for words that only the shell can expand. */
  readonly words: readonly (string | null)[];
  /**
   * If the command contains something that prevents an approval, this is what it contains, as the end of "it holds …";
   * otherwise null.
   */
  readonly opaque: string | null;
  /** The rule that approves the command. */
  readonly rule: PlacedRule | null;
  /** Reason why no rule approves the command, as a sentence without a full stop. */
  readonly why: string | null;
}

/** Result of all rules for one call. */
export interface RuleEvaluation {
  /** The strictest rule that asks or denies. */
  readonly restriction: {
    readonly decision: "require_approval" | "deny";
    readonly rule: PlacedRule;
    /** The part of the call that the rule is about. */
    readonly part: string;
    /** Reason why a denying rule only asks here; null if it is applied as written. */
    readonly unsure: string | null;
  } | null;
  /** True if rules approve every part. */
  readonly approved: boolean;
  /** The rule that approves, or the first of several that approve together. */
  readonly approval: PlacedRule | null;
  /** The simple commands, if there are rules about commands. */
  readonly commands: readonly EvaluatedCommand[];
  /** The path, if there are rules about paths. */
  readonly path: { readonly asked: string; readonly real: string | null } | null;
  /** Reason why no rule approves the call, as a sentence without a full stop; null if a rule approves it. */
  readonly why: string | null;
}
