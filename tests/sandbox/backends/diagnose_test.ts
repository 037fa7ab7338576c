// From test runs to a diagnosis: the results with the real and the empty policy, one row per combination.

import assert from "node:assert/strict";
import { failure, type Outcome, success } from "../../../base/problem.ts";
import { type BackendDiagnosis, diagnoseBackend } from "../../../sandbox/backends/diagnose.ts";
import type { BackendConfig } from "../../../sandbox/types.ts";

const WORKS: Outcome<void> = success(undefined);
const fails = (stated: string, part?: string): Outcome<void> => ({
  ok: false,
  problem: { code: "sandbox-setup-failed", message: stated, ...{ stderr: stated, part } },
});
const MACHINE = fails("machine");
const RACE = fails("race");
const PROC = fails("machine", "proc");
const FILTER = fails("filter", "seccomp");
const SLOW: Outcome<void> = failure("sandbox-setup-failed", "slow");

interface Row {
  name: string;
  /** Answers in turn; the last one is given for ever. */
  real: Outcome<void>[];
  empty?: Outcome<void>[];
  decided: BackendDiagnosis["kind"];
  /** Of the settings that work. */
  config?: BackendConfig;
  /** Tries of the real policy, and of the empty one. */
  tries: [real: number, empty: number];
}

const ROWS: Row[] = [
  {
    name: "if the real policy works, the empty policy is not tested",
    real: [WORKS],
    decided: "works",
    config: {},
    tries: [1, 0],
  },
  {
    name: "if both policies cause the same machine error, no sandbox works on this machine",
    real: [MACHINE],
    empty: [MACHINE],
    decided: "cannot",
    tries: [1, 1],
  },
  {
    name: "if files change during the test of the real policy, the test is repeated once",
    real: [RACE, WORKS],
    empty: [WORKS],
    decided: "works",
    config: {},
    tries: [2, 1],
  },
  {
    name: "if files change during the repeated test as well, the command stops",
    real: [RACE],
    empty: [WORKS],
    decided: "unknown",
    tries: [2, 1],
  },
  {
    name: "a machine error only under the real policy stops the command",
    real: [MACHINE],
    empty: [WORKS],
    decided: "unknown",
    tries: [2, 1],
  },
  {
    name: "if the empty policy fails for any other reason, the sandbox test is inconclusive",
    real: [MACHINE],
    empty: [RACE],
    decided: "unknown",
    tries: [2, 1],
  },
  {
    name: "a test run that takes too long is inconclusive",
    real: [SLOW],
    empty: [SLOW],
    decided: "unknown",
    tries: [2, 1],
  },
  {
    name: "a temporary failure of the machine is gone at the second test",
    real: [SLOW, WORKS],
    empty: [SLOW],
    decided: "works",
    config: {},
    tries: [2, 1],
  },
  {
    name: "if /proc is refused, the arguments without it are used",
    real: [PROC, WORKS],
    empty: [PROC, WORKS],
    decided: "works",
    config: { proc: false },
    tries: [2, 2],
  },
  {
    name: "if the arguments without /proc also fail, no sandbox works on this machine",
    real: [PROC],
    empty: [PROC, MACHINE],
    decided: "cannot",
    tries: [1, 2],
  },
  {
    name: "/proc refused only under the real policy reduces nothing",
    real: [PROC],
    empty: [WORKS],
    decided: "unknown",
    tries: [2, 1],
  },
  {
    name: "if the filter is refused, the sandbox works without it",
    real: [FILTER, FILTER, WORKS],
    empty: [WORKS],
    decided: "works",
    config: { seccomp: false },
    tries: [3, 1],
  },
];

for (const row of ROWS) {
  Deno.test(row.name, async () => {
    const tried: [number, number] = [0, 0];
    const next = (answers: Outcome<void>[], kind: 0 | 1) => () => {
      const answer = answers[Math.min(tried[kind]++, answers.length - 1)];
      return Promise.resolve(answer ?? assert.fail("not to be tried"));
    };
    const decided = await diagnoseBackend({}, {
      real: next(row.real, 0),
      empty: next(row.empty ?? [], 1),
      less: (config, problem) => {
        const part = "part" in problem ? problem.part as string | undefined : undefined;
        return part === undefined || config[part] === false ? null : { ...config, [part]: false };
      },
      ofMachine: (stated) => stated === "machine",
    });
    assert.equal(decided.kind, row.decided);
    if (decided.kind === "works") assert.deepEqual(decided.config, row.config);
    assert.deepEqual(tried, row.tries);
  });
}
