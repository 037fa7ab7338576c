// What rules say about one call, and why.

import type { PlacedRule } from "../../../config/rules/rule.ts";

/** What became of one simple command of a call. */
export interface EvaluatedCommand {
  /** As it stands. */
  readonly text: string;
  /** Its words; null for those that only the shell knows. */
  readonly words: readonly (string | null)[];
  /** Why it could not be read for an approval, as the end of "it holds …"; null when it could. */
  readonly opaque: string | null;
  /** The rule that approves it. */
  readonly rule: PlacedRule | null;
  /** Why no rule does, as a sentence without a full stop. */
  readonly why: string | null;
}

/** What rules say about one call. */
export interface RuleEvaluation {
  /** The strictest rule that asks or denies. */
  readonly restriction: {
    readonly decision: "require_approval" | "deny";
    readonly rule: PlacedRule;
    /** The part of the call that it is about. */
    readonly part: string;
    /** Why a rule that denies only asks here; null where it does what it says. */
    readonly unsure: string | null;
  } | null;
  /** Whether every part is approved by some rule. */
  readonly approved: boolean;
  /** The rule that approves, or the first of several that share the work. */
  readonly approval: PlacedRule | null;
  /** The simple commands, where there are rules about commands. */
  readonly commands: readonly EvaluatedCommand[];
  /** The path, where there are rules about paths. */
  readonly path: { readonly asked: string; readonly real: string | null } | null;
  /** Why no rule approves it, as a sentence without a full stop; null when one does. */
  readonly why: string | null;
}
