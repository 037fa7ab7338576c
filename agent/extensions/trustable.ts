// Something that a person can agree to, as `flemma trust` shows and records it.

import type { Outcome } from "../../base/problem.ts";

export interface Trustable {
  /** Real path of the thing to trust. */
  readonly path: string;
  /** What the thing to trust would do, in words. */
  readonly lines: readonly string[];
  /** The end of a sentence about the thing to trust, which is shown if there are no lines. */
  readonly nothing: string;
  isAgreed(): Promise<Outcome<boolean>>;
  /** Records the agreement; returns further lines to show. */
  agree(): Promise<Outcome<readonly string[]>>;
  /** The message after the agreement. */
  readonly agreed: string;
}

/** What a person can agree to at a path, and what is left out, with the reasons. */
export interface TrustOffer {
  readonly trustables: readonly Trustable[];
  /** Reasons for what is left out, as full sentences. */
  readonly leftOut: readonly string[];
}
