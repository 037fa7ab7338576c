// Emits the notices of the sandbox before the event of the tool that caused them.

import { type Problem, problemLine } from "../../base/problem.ts";
import { hideSecretsIn } from "../../base/text/secrets.ts";
import type { CycleEvent, Emit } from "../../cycle/types.ts";
import type { CallReasons } from "../../tools/approval/mod.ts";
import type { FileChange, RunSandbox } from "../../sandbox/mod.ts";

const SANDBOX_EVENTS: ReadonlySet<CycleEvent["event"]> = new Set([
  "approval:pending",
  "approval:denied",
  "tool:executing",
  "tool:finished",
]);

/** What was reported about a sandbox, which several runs may use. */
export interface ReportedNews {
  /** Number of notices. */
  notices: number;
  /** Number of changes of files. */
  changes: number;
  /** Id of the call that ended last; empty if none has ended. */
  last: string;
}

/**
 * Forwards events. Before each event about tools, emits the new notices of the sandbox. Before the end of a tool, also
 * emits the watched files that commands have changed, and passes them to `remember`. Adds the reasons to the event of
 * a call that waits. `tellNews` emits what was found since the last tool ended.
 */
export function createNotices(
  emit: Emit,
  sandbox: RunSandbox,
  remember: (changes: readonly FileChange[]) => void,
  reasons: (id: string) => CallReasons | undefined,
  reported: ReportedNews,
): { readonly emit: Emit; tellNews(): void } {
  const tellNotices = () => {
    const notices: readonly Problem[] = sandbox.notices().slice(reported.notices);
    reported.notices += notices.length;
    for (const notice of notices) {
      emit({ event: "notice", code: notice.code, message: problemLine(notice) });
    }
  };
  const tellChanges = (id: string) => {
    const news = sandbox.fileChanges().slice(reported.changes);
    reported.changes += news.length;
    if (news.length > 0) remember(news);
    for (const { path, change, obeyedBy, diff } of news) {
      emit({
        event: "file:changed",
        path,
        id,
        change,
        obeyed_by: obeyedBy,
        ...(diff === undefined ? {} : { diff }),
      });
    }
  };
  return {
    emit(event) {
      // In a run without tool events there is nothing to report about the sandbox.
      if (SANDBOX_EVENTS.has(event.event)) tellNotices();
      if (event.event === "tool:finished") {
        reported.last = event.id;
        tellChanges(event.id);
      }
      emit(event.event === "approval:pending" ? { ...event, ...reasons(event.id) } : event);
    },
    tellNews() {
      if (reported.last === "") return;
      tellNotices();
      tellChanges(reported.last);
    },
  };
}

/**
 * Forwards events, but drops repeated notices that the state folder cannot be written, because all have the same cause.
 */
export function reportStateOnce(emit: Emit): Emit {
  let isReported = false;
  return (event) => {
    const isState = event.event === "notice" && event.code === "state-unwritable";
    if (!isState || !isReported) emit(event);
    isReported ||= isState;
  };
}

/** Forwards events without known secrets. The model's own text stays as it is. */
export function emitWithoutSecrets(emit: Emit): Emit {
  return (event) => emit(event.event === "text" || event.event === "thinking" ? event : hideSecretsIn(event));
}

/** Forwards events. A notice is one line, whatever the text of another program in it. */
export function oneLineNotices(emit: Emit): Emit {
  return (event) => {
    if (event.event !== "notice" || !event.message.includes("\n")) return emit(event);
    emit({ ...event, message: event.message.trim().replaceAll(/\s*\n\s*/g, " ") });
  };
}
