// Brings the notices of the sandbox to whoever looks on, before the event of the tool they are about.

import type { Problem } from "../base/problem.ts";
import type { CycleEvent, Emit } from "../cycle/types.ts";
import type { CallReasons } from "../tools/approval/mod.ts";
import type { FileChange, RunSandbox } from "../sandbox/mod.ts";

const SANDBOX_EVENTS: ReadonlySet<CycleEvent["event"]> = new Set([
  "approval:pending",
  "approval:denied",
  "tool:executing",
  "tool:finished",
]);

/**
 * Passes events on, and before each that concerns tools the new notices of the sandbox; before the end of a tool also which
 * watched files commands have changed, which `remember` is told too. A call that waits is told with its reasons.
 */
export function noticing(
  emit: Emit,
  sandbox: RunSandbox,
  remember: (changes: readonly FileChange[]) => void,
  reasons: (id: string) => CallReasons | undefined,
): Emit {
  let told = 0;
  let changes = 0;
  return (event) => {
    // A run in which no tool comes up has nothing to do with the sandbox.
    if (SANDBOX_EVENTS.has(event.event)) {
      const notices: readonly Problem[] = sandbox.notices().slice(told);
      told += notices.length;
      for (const { code, message, next } of notices) {
        emit({ event: "notice", code, message: next === undefined ? message : `${message} ${next}` });
      }
    }
    if (event.event === "tool:finished") {
      const news = sandbox.fileChanges().slice(changes);
      changes += news.length;
      if (news.length > 0) remember(news);
      for (const { path, change, obeyedBy } of news) {
        emit({ event: "file:changed", path, id: event.id, change, obeyed_by: obeyedBy });
      }
    }
    emit(event.event === "approval:pending" ? { ...event, ...reasons(event.id) } : event);
  };
}
