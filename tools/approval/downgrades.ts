// Approval downgrades: named reasons why a call waits for a person although it was approved.

import type { ApprovalDecision } from "./types.ts";

/** A call to decide. */
export interface DecidedCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Asks hooks about a call that is about to run, or to wait. */
export interface HookQuestion {
  /** Ends the hooks when it aborts. */
  readonly signal: AbortSignal;
  /** True if the person approved the call: hooks can only deny it then, and they are asked again. */
  readonly approved: boolean;
}

/** Options of a decision. */
export interface DecideOptions {
  /** List what each resolver answered. @default false */
  readonly explain?: boolean | "waiting";
  /** Ask hooks, too. A report asks none. @default none */
  readonly hooks?: HookQuestion;
}

/** Decides a call. */
export type Decide = (call: DecidedCall, options?: DecideOptions) => Promise<ApprovalDecision>;

/** One reason not to accept an approval. */
export interface ApprovalDowngrade {
  /** Name in decisions and in `approval explain`. */
  readonly name: string;
  /** Downgrades a decision and returns the reason; null leaves the decision unchanged. */
  lower(call: DecidedCall, earlier: ApprovalDecision): Lowered | null | Promise<Lowered | null>;
  /**
   * Returns whether the approval in the document is not accepted for this call, which is then decided again. @default
   * never
   */
  doubts?(id: string): boolean | Promise<boolean>;
}

/** A downgrade of one decision. */
export interface Lowered {
  /** Reason for the downgrade, in one line. */
  readonly detail: string;
  /** See `ApprovalDecision.reported`. */
  readonly reported?: true;
  /** See `ApprovalDecision.bound`. */
  readonly bound?: true;
  /** True if the decision keeps its source, because the call waits even without the downgrade. @default false */
  readonly keepsSource?: boolean;
}

/** Decides, then applies the downgrades in their order. */
export function withDowngrades(decide: Decide, downgrades: readonly ApprovalDowngrade[]): Decide {
  return async (call, options) => {
    let earlier = await decide(call, options);
    for (const downgrade of downgrades) {
      const lowered = await downgrade.lower(call, earlier);
      if (lowered !== null) earlier = applied(downgrade.name, lowered, earlier);
    }
    return earlier;
  };
}

function applied(
  name: string,
  { detail, bound, reported, keepsSource = false }: Lowered,
  earlier: ApprovalDecision,
): ApprovalDecision {
  const decided: ApprovalDecision = keepsSource
    ? { ...earlier, detail: earlier.detail ?? detail }
    : { decision: "require_approval", source: name, detail };
  const { chain } = earlier;
  return {
    ...decided,
    ...(bound === undefined ? {} : { bound }),
    ...(reported === undefined ? {} : { reported }),
    ...(chain === undefined ? {} : { chain: chain.length === 0 ? chain : [...chain, linkOf(name, detail)] }),
  };
}

/**
 * Returns the entry for a downgrade in the list of resolver answers. It comes last, because a downgrade has no
 * priority.
 */
function linkOf(name: string, detail: string) {
  return { name, priority: -1, answer: "require_approval", detail } as const;
}
