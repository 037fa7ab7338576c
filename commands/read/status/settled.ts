// Reports on documents that have no open call and set no settings, without opening a session. Most documents that
// editors ask about are of this kind.

import { waitingRun } from "../../../agent/runtime/cancel/waiting_run.ts";
import type { SettingsHost, SubjectSettings } from "../../../agent/settings.ts";
import { fileChangesOf } from "../../../agent/trust/file_changes.ts";
import type { ProposedRule } from "../../../agent/types.ts";
import { settledStatus } from "../../../agent/views/status.ts";
import type { Environment } from "../../../base/environment.ts";
import { mayBeThere } from "../../../base/files.ts";
import { sessionFolder } from "../../../base/folders.ts";
import { type Outcome, success } from "../../../base/problem.ts";
import { holderOf } from "../../../cycle/storage/lock.ts";
import { describeLeftCommands } from "../../../sandbox/process/leftovers.ts";
import type { ReadText } from "../../document/read.ts";
import type { StatusView } from "./report.ts";

/**
 * Returns the view of a document that has no open call and sets no settings; null for other documents, which need a
 * session. `subject` holds the settings if they were loaded.
 */
export async function withoutSession(
  host: SettingsHost,
  read: ReadText,
): Promise<{ readonly view: StatusView | null; readonly subject?: SubjectSettings }> {
  const { environment } = host;
  const { path } = read;
  const { status, subject } = await settledStatus(host, read);
  if (status === null || subject === undefined) return { view: null, subject };
  const { settings, loaded: { notices, warnings } } = subject;
  const holder = path === null ? null : await holderOf(path, environment, settings.lock.place);
  const view: StatusView = {
    ...status,
    environment: subject.environment,
    settings,
    notices,
    warnings,
    calls: [],
    holder,
    waiting: holder === null && path !== null ? await waitingRun(path, environment) : null,
    leftRunning: describeLeftCommands(environment),
    fileChanges: path === null ? [] : await fileChangesOf(environment, path),
    doubts: [],
    rules: await rulesOf(environment, path),
    sandbox: async () => (await import("./json.ts")).sandboxOf(environment, read, subject),
    reasons: () => Promise.resolve(new Map()),
  };
  return { view, subject };
}

/** Returns the rules of this session. Most people have no rules; then the code that reads them is not loaded. */
async function rulesOf(
  environment: Environment,
  document: string | null,
): Promise<Outcome<readonly ProposedRule[]>> {
  if (document === null || !mayBeThere(sessionFolder(environment).path)) return success([]);
  const { sessionRules } = await import("../../../agent/rules/session_rules.ts");
  return await sessionRules({ environment, document });
}
