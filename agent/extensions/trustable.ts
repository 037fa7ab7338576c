// Something a person can agree to, as `flemma trust` shows and records it.

import type { Outcome } from "../../base/problem.ts";

export interface Trustable {
  /** Its real path. */
  readonly path: string;
  /** What it would do, in words. */
  readonly lines: readonly string[];
  /** What to say if there are no lines, as the end of a sentence about it. */
  readonly nothing: string;
  isAgreed(): Promise<Outcome<boolean>>;
  /** Records the agreement; returns further lines to show. */
  agree(): Promise<Outcome<readonly string[]>>;
  /** What to say after the agreement. */
  readonly agreed: string;
}

/** What can be agreed to at a path, and what is left out and why. */
export interface TrustOffer {
  readonly trustables: readonly Trustable[];
  /** Full sentences. */
  readonly leftOut: readonly string[];
}
