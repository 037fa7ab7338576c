// The diagnosis of a backend: works, cannot work here, or unknown.

import type { Outcome, Problem } from "../../base/problem.ts";
import type { BackendConfig, SetupFailure } from "../types.ts";

/** `cannot`: this machine cannot provide such a sandbox. `unknown`: it failed, but may work the next moment. */
export type BackendDiagnosis =
  | { readonly kind: "works"; readonly config: BackendConfig }
  | { readonly kind: "cannot"; readonly problem: Problem }
  | { readonly kind: "unknown"; readonly problem: Problem };

/** The attempts of a diagnosis. Each runs the no-op command once. */
export interface Tries {
  /** Tries the policy of the run, as it can be mounted now. */
  real(config: BackendConfig): Promise<Outcome<void>>;
  /** Tries the empty policy, which nothing outside the sandbox can influence. */
  empty(config: BackendConfig): Promise<Outcome<void>>;
  /** Reduced settings to try next, if an optional part was refused; otherwise null. */
  less(config: BackendConfig, problem: Problem): BackendConfig | null;
  /** True if only the machine itself can cause this error output. */
  ofMachine(words: string): boolean;
}

/**
 * Tries the policy. If that fails, a try with the empty policy shows whether the fault is the machine's or temporary.
 * If the backend works with the empty policy, it is tried once more and then counts as unknown. So an attacker who
 * makes a set-up fail does not get commands run without a sandbox.
 */
export async function diagnoseBackend(config: BackendConfig, tries: Tries): Promise<BackendDiagnosis> {
  const first = await tries.real(config);
  if (first.ok) return { kind: "works", config };
  let form = config;
  for (;;) {
    const empty = await tries.empty(form);
    if (empty.ok) break;
    const less = tries.less(form, empty.problem);
    if (less !== null) form = less;
    else if (tries.ofMachine(wordsOf(empty.problem))) return { kind: "cannot", problem: empty.problem };
    // The real policy has to work. If it works now, the fault was temporary.
    else {
      const again = await tries.real(config);
      return again.ok ? { kind: "works", config } : { kind: "unknown", problem: again.problem };
    }
  }
  let answer = await tries.real(form);
  // Parts that the empty policy does not use, such as the system call filter, can fail only here.
  for (let less = lessOf(tries, form, answer); less !== null; less = lessOf(tries, form, answer)) {
    form = less;
    answer = await tries.real(form);
  }
  return answer.ok ? { kind: "works", config: form } : { kind: "unknown", problem: answer.problem };
}

/** A part that the empty policy uses has been shown to work, so only other parts may be dropped. */
function lessOf(tries: Tries, form: BackendConfig, answer: Outcome<void>): BackendConfig | null {
  if (answer.ok || ("part" in answer.problem && answer.problem.part === "proc")) return null;
  return tries.less(form, answer.problem);
}

/** Everything the backend wrote; empty if it failed in another way, such as a timeout. */
function wordsOf(problem: Problem): string {
  return "stderr" in problem ? (problem as SetupFailure).stderr : "";
}
