// Finds the status of a document without open calls, without opening a `ChatSession`. No code that decides about calls
// is loaded.

import { brokenPlaceholder } from "../../cycle/plan/batched.ts";
import { conflictMarks } from "../../cycle/plan/conflict_marks.ts";
import { liveCalls } from "../../cycle/plan/open_calls.ts";
import { plan } from "../../cycle/plan/plan.ts";
import type { Step } from "../../cycle/plan/types.ts";
import { gatherPlanInputs, type Tools } from "../../cycle/plan/plan_inputs.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { isLifecycle } from "../../parser/text/status_words.ts";
import type { Chat, Diagnostic } from "../../parser/types.ts";
import { mayHaveSkills } from "../extensions/skills.ts";
import { blocksOf, type SettingsHost, type SubjectSettings, subjectSettings } from "../settings.ts";

/** The status of a document without open calls, equal to the status that a `ChatSession` would return. */
export interface SettledStatus {
  readonly blockers: readonly Diagnostic[];
  /** The steps of the next advance. */
  readonly steps: readonly Step[];
}

export interface ReadChat {
  /** The real path; null when the text has none. */
  readonly path: string | null;
  /** The absolute path as given, with links not resolved. */
  readonly named: string | null;
  readonly chat: Chat;
}

/**
 * Finds the status of a document. Null if a `ChatSession` is needed: for a call without a final result, for
 * frontmatter, for tools or skills from outside the program, for commands that were running at the end of a run, and
 * for any problem.
 *
 * @returns also the settings, if they were loaded, so that they are not loaded again
 */
export async function settledStatus(
  host: SettingsHost,
  document: ReadChat,
): Promise<{ readonly status: SettledStatus | null; readonly subject?: SubjectSettings }> {
  const { path, named, chat } = document;
  const blocks = blocksOf(chat);
  if (path !== named || blocks.frontmatter !== null || blocks.preamble !== null || !isSettled(chat)) {
    return { status: null };
  }
  const subject = await subjectSettings(host, { path, ...blocks });
  if (!subject.ok) return { status: null };
  const unsettled = { status: null, subject: subject.value };
  const { settings, loaded } = subject.value;
  const skills = mayHaveSkills({ environment: subject.value.environment, settings, document: path });
  if (loaded.catalog.open || skills || bringsMore(settings)) return unsettled;
  const journal = await openJournal({ environment: host.environment, path });
  if (!journal.ok || journal.value.tamperCheck() !== null || journal.value.tampered() !== null) {
    return unsettled;
  }
  const blockers = [...conflictMarks(chat), ...brokenPlaceholder(chat)];
  const sources = {
    journal: journal.value,
    settings,
    tools: NO_TOOLS,
    decide: () => Promise.reject(new Error("a settled document has no calls to decide")),
    checkInput: () => [],
  };
  const steps = blockers.length > 0 || chat.turns.length === 0
    ? []
    : plan(chat, await gatherPlanInputs(chat, sources, NOTHING_RUNS, true));
  return { subject: subject.value, status: { blockers, steps } };
}

/** True if every call has its final result. */
function isSettled(chat: Chat): boolean {
  return liveCalls(chat).every(({ id }) => {
    const result = chat.result(id);
    return result !== undefined && !isLifecycle(result.status);
  });
}

/** True if the settings add something that only a `ChatSession` loads and that may cause problems. */
function bringsMore({ tools, mcp, trust, prefill }: Settings): boolean {
  return tools.modules.length > 0 || tools.dirs.length > 0 ||
    Object.keys(mcp.servers).length > 0 || trust.documents === "ask" || prefill;
}

const NOTHING_RUNS: ReadonlySet<string> = new Set();

/** Nobody looks up the tools of completed calls. */
const NO_TOOLS: Tools = { get: () => undefined, has: () => false, closestMatch: () => null };
