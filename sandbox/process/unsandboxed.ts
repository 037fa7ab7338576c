// Commands without a sandbox. They are started unchanged, and recorded so that a later run can end them.

import type { Environment } from "../../base/environment.ts";
import { STATE_REMEDY, StateUnwritable } from "../../base/folders.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import { withInnerScript } from "./inner_script.ts";
import { record, removeRecord } from "./leftovers.ts";
import { newMark } from "./marks.ts";
import { spawn } from "./spawn.ts";
import type { PreparedCommand } from "../types.ts";

/** Code of the problem that calls wait although a backend confines commands. */
export const CALLS_WAIT = "backend-repairs";

/** Code of the problem that a backend wraps commands and does not confine them. */
export const PRIVILEGED_ROOT = "sandbox-privileged-root";

/** True if commands run in a sandbox, also if calls wait because of what it covers. */
export function isConfined(available: Outcome<string>): boolean {
  return available.ok || available.problem.code === CALLS_WAIT;
}

/** True if a backend wraps commands, also if it does not confine them. */
export function isWrapped(available: Outcome<string>): boolean {
  return isConfined(available) || (!available.ok && available.problem.code === PRIVILEGED_ROOT);
}

/** Prepares a command without a backend. */
export function prepareUnsandboxed(
  inner: readonly string[],
  waits: boolean,
  environment: Environment,
): PreparedCommand {
  let recorded: string | undefined;
  return {
    argv: [...inner],
    wrapped: false,
    start: (options) => {
      const kind = options.stdin === undefined ? "empty" : "piped";
      const mark = newMark();
      return spawn(waits ? inner : withInnerScript([], kind, inner), options, {
        mark,
        open: (leader) => {
          const written = tryRecord(environment, leader, { writable: [], before: "null", mark });
          if (written.ok) recorded = written.value;
          return written.ok ? null : written.problem;
        },
      });
    },
    handOut: () => success(undefined),
    setupFailure: () => Promise.resolve(null),
    dispose: () => {
      try {
        if (recorded !== undefined) removeRecord(recorded);
      } catch {
        // The command has ended and its result is complete, so the error does not matter. The next run removes the
        // record, because no process of the command lives.
      }
      return Promise.resolve();
    },
  };
}

/** The notice that commands run without a sandbox, and why. */
export function unsandboxedNotice(why: Problem): Problem {
  return {
    code: "running-bare",
    message: `Commands run without a sandbox. ${why.message}`,
    next: why.next ?? "To refuse that, set sandbox.backend to required.",
  };
}

/** Records a command. If this fails, the command must not start. */
export function tryRecord(...[environment, leader, what]: Parameters<typeof record>): Outcome<string> {
  try {
    return success(record(environment, leader, what));
  } catch (thrown) {
    const { message } = new StateUnwritable(environment, thrown);
    return failure("command-not-recorded", `The command was not started, because ${message}.`, STATE_REMEDY);
  }
}
