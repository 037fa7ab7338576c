// Approval downgrades: reasons why a call waits for a person although it was approved, each with a name.

import type { ApprovalDecision } from "./types.ts";

/** A call that is decided about. */
export interface DecidedCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Decides about a call; with `explain` the decision holds what each resolver said. */
export type Decide = (
  call: DecidedCall,
  options?: { readonly explain?: boolean | "waiting" },
) => Promise<ApprovalDecision>;

/** One reason why an approval does not count. */
export interface ApprovalDowngrade {
  /** Name in decisions and in `approval explain`. */
  readonly name: string;
  /** Whether a decision is downgraded, and why; null leaves it as it is. */
  lower(call: DecidedCall, earlier: ApprovalDecision): Lowered | null | Promise<Lowered | null>;
  /** Whether the recorded approval of a call does not count, so that the call is decided about again. @default never */
  doubts?(id: string): boolean;
}

/** How a decision is downgraded. */
export interface Lowered {
  /** Why, in one line. */
  readonly detail: string;
  /** See `Verdict.bound`. */
  readonly bound?: true;
  /** Whether the decision keeps its source, for a call that waits anyway. @default false */
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
  { detail, bound, keepsSource = false }: Lowered,
  earlier: ApprovalDecision,
): ApprovalDecision {
  const decided: ApprovalDecision = keepsSource
    ? { ...earlier, detail: earlier.detail ?? detail }
    : { decision: "require_approval", source: name, detail };
  const { chain } = earlier;
  return {
    ...decided,
    ...(bound === undefined ? {} : { bound }),
    ...(chain === undefined ? {} : { chain: chain.length === 0 ? chain : [...chain, linkOf(name, detail)] }),
  };
}

/** A downgrade as a link of the chain; it has no place among the priorities. */
function linkOf(name: string, detail: string) {
  return { name, priority: -1, answer: "require_approval", detail } as const;
}
