// What a run that died on another machine may have begun, noted here: its own journal is out of reach.

import type { Environment } from "../../base/environment.ts";
import { type Problem, thrownText } from "../../base/problem.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import type { DocumentStore } from "../../cycle/types.ts";

/**
 * Notes each call as started that stands approved and has no result: a call gets that status before it starts, so nobody
 * here can tell whether it did. The person is asked about it then, as about one that this machine began.
 *
 * @returns what is in the way; null when all are noted
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
    return {
      code: "state-unwritable",
      message: `What a run elsewhere may have begun cannot be noted: ${thrownText(thrown)}.`,
      next: "Make room, or name a writable state folder with XDG_STATE_HOME.",
    };
  }
}
