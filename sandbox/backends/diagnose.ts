// The diagnosis of a backend: works, cannot work here, or unknown.

import type { Outcome, Problem } from "../../base/problem.ts";
import type { BackendConfig, SetupFailure } from "../types.ts";

/**
 * `works`: and, if `repairs` is true, protected files are restored after a command. `cannot`: this machine cannot
 * provide such a sandbox. `unknown`: it failed, but may work the next moment.
 */
export type BackendDiagnosis =
  | { readonly kind: "works"; readonly config: BackendConfig; readonly repairs?: boolean }
  | { readonly kind: "cannot"; readonly problem: Problem }
  | { readonly kind: "unknown"; readonly problem: Problem };

/** The attempts of a diagnosis. Each runs the no-op command once. */
export interface Tries {
  /** Tries the policy of the run, without paths that cannot be mounted at present. */
  real(config: BackendConfig): Promise<Outcome<void>>;
  /** Tries the empty policy, which nothing outside the sandbox can influence. */
  empty(config: BackendConfig): Promise<Outcome<void>>;
  /** Reduced settings to try next, if an optional part was refused; otherwise null. */
  less(config: BackendConfig, problem: Problem): BackendConfig | null;
  /** True if only the machine itself can cause this error output. */
  ofMachine(words: string): boolean;
}

/**
 * Tries the policy. If that fails, tries the empty policy: its result shows whether the machine or a temporary fault is
 * the cause. If the empty policy works, tries the policy once more; if that fails again, the result is `unknown`. So an
 * attacker who makes a set-up fail cannot get commands to run without a sandbox.
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
    // The policy of the run is tried again. If it works now, the fault was temporary.
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

/**
 * Returns the settings without the refused part; null if there is nothing to leave out. The empty policy has shown that
 * its own parts work, so only other parts may be left out.
 */
function lessOf(tries: Tries, form: BackendConfig, answer: Outcome<void>): BackendConfig | null {
  if (answer.ok || ("part" in answer.problem && answer.problem.part === "proc")) return null;
  return tries.less(form, answer.problem);
}

/** The error output of the backend; empty if the backend failed without any, for instance by a timeout. */
function wordsOf(problem: Problem): string {
  return "stderr" in problem ? (problem as SetupFailure).stderr : "";
}
