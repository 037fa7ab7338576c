// Something a person can agree to, as `flemma trust` shows and records it.

import type { Outcome } from "../../base/problem.ts";

export interface Trustable {
  /** Its real path. */
  readonly path: string;
  /** What it would do, in words. */
  readonly lines: readonly string[];
  /** What it would do when there are no lines, as the end of a sentence about it. */
  readonly nothing: string;
  isAgreed(): Promise<Outcome<boolean>>;
  /** Records the agreement; answers with further lines to tell. */
  agree(): Promise<Outcome<readonly string[]>>;
  /** What is told then. */
  readonly agreed: string;
}

/** What a path stands for: what can be agreed to, and what is left out of it and why. */
export interface TrustOffer {
  readonly trustables: readonly Trustable[];
  /** Full sentences. */
  readonly leftOut: readonly string[];
}
