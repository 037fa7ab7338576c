// What is known about a backend after it was tried: works, cannot work here, or not known (safety S16).

import type { Outcome, Problem } from "../../base/problem.ts";
import type { BackendConfig, SetupFailure } from "../types.ts";

/** `cannot`: this machine has no such sandbox to give. `unknown`: it failed, and may work the next moment. */
export type Diagnosis =
  | { readonly kind: "works"; readonly config: BackendConfig }
  | { readonly kind: "cannot"; readonly problem: Problem }
  | { readonly kind: "unknown"; readonly problem: Problem };

/** The tries a verdict is made of; each runs the empty command once. */
export interface Tries {
  /** Under the policy of the run, as it can be mounted at this moment. */
  real(config: BackendConfig): Promise<Outcome<void>>;
  /** Under the empty policy: nothing in it depends on what others do. */
  empty(config: BackendConfig): Promise<Outcome<void>>;
  /** The settings to try next when a part was refused that the rest does not stand on; null when there are none. */
  less(config: BackendConfig, problem: Problem): BackendConfig | null;
  /** Whether the words of a failed set-up can only come from the machine itself. */
  ofMachine(words: string): boolean;
}

/**
 * Tries the policy; where that fails, the empty policy tells the machine from the moment. A backend that works empty is
 * looked at once more and then counts as not known: so whoever can make a set-up fail gains nothing by it.
 */
export async function diagnose(config: BackendConfig, tries: Tries): Promise<Diagnosis> {
  const first = await tries.real(config);
  if (first.ok) return { kind: "works", config };
  let form = config;
  for (;;) {
    const empty = await tries.empty(form);
    if (empty.ok) break;
    const less = tries.less(form, empty.problem);
    if (less !== null) form = less;
    else if (tries.ofMachine(wordsOf(empty.problem))) return { kind: "cannot", problem: empty.problem };
    // It is the real policy that has to work; where that does now, the rest was a passing fault.
    else {
      const again = await tries.real(config);
      return again.ok ? { kind: "works", config } : { kind: "unknown", problem: again.problem };
    }
  }
  let answer = await tries.real(form);
  // What the empty policy does not ask for, such as the filter for system calls, shows only here.
  for (let less = lessOf(tries, form, answer); less !== null; less = lessOf(tries, form, answer)) {
    form = less;
    answer = await tries.real(form);
  }
  return answer.ok ? { kind: "works", config: form } : { kind: "unknown", problem: answer.problem };
}

/** A part that the empty policy holds was found to work there, so only other parts may go. */
function lessOf(tries: Tries, form: BackendConfig, answer: Outcome<void>): BackendConfig | null {
  if (answer.ok || ("part" in answer.problem && answer.problem.part === "proc")) return null;
  return tries.less(form, answer.problem);
}

/** Everything the backend said, or nothing when it failed in another way, such as by its time. */
function wordsOf(problem: Problem): string {
  return "stderr" in problem ? (problem as SetupFailure).stderr : "";
}
