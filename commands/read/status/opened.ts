// Collects the status of a document from a session: open calls and the decisions about them.

import type { SubjectSettings } from "../../../agent/settings.ts";
import { waitingRun } from "../../../agent/runtime/cancel/waiting_run.ts";
import { reasonJson } from "../../../agent/views/explanation.ts";
import { openAsRead } from "../../document/open.ts";
import type { ReadText } from "../../document/read.ts";
import type { Invocation } from "../../invocation.ts";
import type { StatusView } from "./report.ts";

/** Opens a session on a document that was read, with its settings if loaded, and passes its view to `tell`. */
export async function bySession(
  invocation: Invocation,
  { read, subject }: { readonly read: ReadText; readonly subject?: SubjectSettings },
  tell: (view: StatusView) => Promise<number>,
): Promise<number> {
  const opened = await openAsRead(invocation, read, subject);
  if ("exit" in opened) return opened.exit;
  await using session = opened;
  const { sandbox, settings, loaded: { notices, warnings }, blockers, doubts } = session;
  const holder = await session.holder();
  const calls = await session.calls();
  return await tell({
    environment: session.environment,
    settings,
    notices,
    warnings,
    calls,
    steps: calls.some(({ status }) => status === "running") ? [] : await session.plan(),
    blockers,
    holder,
    waiting: holder === null && read.path !== null
      ? await waitingRun(read.path, invocation.environment)
      : null,
    leftRunning: sandbox.leftRunning(),
    fileChanges: await session.fileChanges(),
    doubts,
    rules: await session.rules(),
    sandbox: () => Promise.resolve(sandbox),
    reasons: async () => {
      const explained = await session.explain();
      return new Map((explained.ok ? explained.value : []).map((call) => [call.id, reasonJson(call)]));
    },
  });
}
