// Something that a person can agree to, as `flemma trust` shows and records it.

import type { Outcome } from "../../base/problem.ts";

export interface Trustable {
  /** Real path of the thing to trust. */
  readonly path: string;
  /** What the thing to trust would do, in words. */
  readonly lines: readonly string[];
  /** The end of a sentence that begins with the path. This sentence is shown if `lines` is empty. */
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
  /** Full sentences, one for each part that is left out, with the reason. */
  readonly leftOut: readonly string[];
}
