// Records calls that a run on another machine may have started before it died; its journal is not available here.

import type { Environment } from "../../base/environment.ts";
import { stateNotice } from "../../base/folders.ts";
import type { Problem } from "../../base/problem.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import type { DocumentStore } from "../../cycle/types.ts";

/**
 * Records every approved call without a result as started. A call gets the status `approved` before it starts, so the
 * document does not show whether it started. The person is then asked about the call, as about a call that this
 * machine started.
 *
 * @returns the problem that prevents recording; null on success
 */
export async function noteLeftElsewhere(
  { path, chat }: DocumentStore,
  environment: Environment,
): Promise<Problem | null> {
  const journal = await openJournal({ environment, path });
  if (!journal.ok) return journal.problem;
  try {
    for (const { id, status, content } of chat.results) {
      const call = chat.call(id);
      if (call === undefined || status !== "approved" || content !== "") continue;
      await journal.value.recordStart(id, call.name);
    }
    return null;
  } catch (thrown) {
    const effect = "The record of calls that another run may have started cannot be saved.";
    return stateNotice(environment, thrown, effect);
  }
}
