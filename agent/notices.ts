// Brings the notices of the sandbox to whoever looks on, before the event of the tool they are about.

import type { Problem } from "../base/problem.ts";
import type { CycleEvent, Emit } from "../cycle/types.ts";
import type { RunSandbox } from "../sandbox/mod.ts";

const SANDBOX_EVENTS: ReadonlySet<CycleEvent["event"]> = new Set([
  "approval:pending",
  "approval:denied",
  "tool:executing",
  "tool:finished",
]);

/** Passes events on, and before each that concerns tools the new notices of the sandbox. */
export function noticing(emit: Emit, sandbox: RunSandbox): Emit {
  let told = 0;
  return (event) => {
    // A run in which no tool comes up has nothing to do with the sandbox.
    if (SANDBOX_EVENTS.has(event.event)) {
      const notices: readonly Problem[] = sandbox.notices().slice(told);
      told += notices.length;
      for (const { code, message, next } of notices) {
        emit({ event: "notice", code, message: next === undefined ? message : `${message} ${next}` });
      }
    }
    emit(event);
  };
}
