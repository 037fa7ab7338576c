// What bubblewrap and Landlock would do for a command, and where they differ. Runs and tests nothing.

import { type Outcome, type Problem, success } from "../../base/problem.ts";
import { bwrapArguments, bwrapSettings } from "../backends/bwrap.ts";
import { planFor } from "../backends/landlock.ts";
import { mountsOf } from "../backends/prepare.ts";
import { RIGHTS } from "../kernel/landlock_plan.ts";
import { RunContext } from "./context.ts";
import { Notices } from "./notices.ts";
import type { SandboxOptions } from "./options.ts";
import { PolicySnapshots } from "./policy_snapshots.ts";

/** Two plans for one command. */
export interface SandboxComparison {
  readonly command: readonly string[];
  readonly bwrap: {
    /** The argument list without what differs from run to run; empty if there is an error. */
    readonly arguments: readonly string[];
    readonly error: Problem | null;
  };
  readonly landlock: {
    /** `exact` or `repaired`; null if there is an error. */
    readonly kind: "exact" | "repaired" | null;
    /** Version of the kernel interface; null if there is an error. */
    readonly abi: number | null;
    readonly rules: readonly { readonly path: string; readonly rights: readonly string[] }[];
    readonly error: Problem | null;
  };
  readonly difference: {
    /** Paths that bubblewrap keeps read-only, and that are restored after a command under Landlock. */
    readonly restored: readonly string[];
    /** What commands can do under Landlock although the policy forbids it. */
    readonly notCovered: readonly string[];
  };
}

export function comparePlans(
  options: SandboxOptions,
  command: readonly string[],
): Outcome<SandboxComparison> {
  const context = new RunContext(options, new Notices());
  const { policy } = context;
  if (!policy.ok) return policy;
  const take = (repairs: boolean) => {
    const snapshots = new PolicySnapshots(context, new Notices());
    snapshots.repairs = repairs;
    return snapshots.take(policy.value).policy;
  };
  const mounted = take(false);
  const settings = bwrapSettings(context.settings.backends.bwrap ?? {});
  const repaired = take(true);
  const plan = planFor(repaired);
  return success({
    command,
    bwrap: {
      arguments: settings.ok
        ? bwrapArguments(mounted, settings.value, command, { mounts: mountsOf(mounted), options: [] })
        : [],
      error: problemOf(settings),
    },
    landlock: {
      kind: plan.ok ? plan.value.kind : null,
      abi: plan.ok ? plan.value.abi : null,
      rules: plan.ok ? plan.value.rules.map(({ path, rights }) => ({ path, rights: namesOf(rights) })) : [],
      error: problemOf(plan),
    },
    difference: {
      restored: plan.ok ? repaired.held ?? [] : [],
      notCovered: plan.ok ? plan.value.notCovered : [],
    },
  });
}

function problemOf(outcome: Outcome<unknown>): Problem | null {
  return outcome.ok ? null : outcome.problem;
}

function namesOf(rights: number): string[] {
  return Object.entries(RIGHTS).filter(([, bit]) => (rights & bit) !== 0).map(([name]) => name);
}
