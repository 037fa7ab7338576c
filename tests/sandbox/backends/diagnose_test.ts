// From tries to a verdict: what the real policy and the empty one came to, one row a way.

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
  { name: "what works is not tried empty", real: [WORKS], decided: "works", config: {}, tries: [1, 0] },
  {
    name: "a cause of the machine under both means none",
    real: [MACHINE],
    empty: [MACHINE],
    decided: "cannot",
    tries: [1, 1],
  },
  {
    name: "a race under the real policy is looked at once more",
    real: [RACE, WORKS],
    empty: [WORKS],
    decided: "works",
    config: {},
    tries: [2, 1],
  },
  {
    name: "a race that goes on stops the command",
    real: [RACE],
    empty: [WORKS],
    decided: "unknown",
    tries: [2, 1],
  },
  {
    name: "words of the machine under the real policy alone stop the command",
    real: [MACHINE],
    empty: [WORKS],
    decided: "unknown",
    tries: [2, 1],
  },
  {
    name: "any other failure under the empty policy is not known",
    real: [MACHINE],
    empty: [RACE],
    decided: "unknown",
    tries: [2, 1],
  },
  {
    name: "a probe out of time is not known",
    real: [SLOW],
    empty: [SLOW],
    decided: "unknown",
    tries: [2, 1],
  },
  {
    name: "a passing fault of the machine is over at the second look",
    real: [SLOW, WORKS],
    empty: [SLOW],
    decided: "works",
    config: {},
    tries: [2, 1],
  },
  {
    name: "where /proc is refused the list without it is used",
    real: [PROC, WORKS],
    empty: [PROC, WORKS],
    decided: "works",
    config: { proc: false },
    tries: [2, 2],
  },
  {
    name: "where the list without /proc fails too there is none",
    real: [PROC],
    empty: [PROC, MACHINE],
    decided: "cannot",
    tries: [1, 2],
  },
  {
    name: "/proc refused under the real policy alone lowers nothing",
    real: [PROC],
    empty: [WORKS],
    decided: "unknown",
    tries: [2, 1],
  },
  {
    name: "where the filter is refused the sandbox does without",
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
