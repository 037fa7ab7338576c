// Searches the journals of other documents for a call: a moved, renamed or copied document keeps its approvals.

import type { Environment } from "../../base/environment.ts";
import type { KnownCall } from "../../cycle/types.ts";
import { JournalState, readEntries } from "../../cycle/storage/journal_entries.ts";
import { documentKey, stateFolder } from "../../cycle/storage/state_files.ts";

/** What the journal of another document says about a call. */
export interface CallElsewhere {
  readonly held: KnownCall | null;
  /** Whether it was approved there by the policy, a command or a host. */
  readonly approved: boolean;
  /** When it ended or was started there; null if it was not. */
  readonly ranAt: string | null;
}

/** Finds the call in all journals but that of the document at `path`. */
export async function searchJournals(
  environment: Environment,
  path: string,
  id: string,
  hash: string,
): Promise<CallElsewhere[]> {
  const folder = `${stateFolder(environment)}/journal`;
  const own = `${await documentKey(path)}.jsonl`;
  const found: CallElsewhere[] = [];
  for (const name of namesIn(folder)) {
    if (name === own || !name.endsWith(".jsonl")) continue;
    const text = textOf(`${folder}/${name}`);
    if (!text.includes(hash)) continue;
    const state = new JournalState(readEntries(text));
    const approval = state.approvals.get(id);
    found.push({
      held: state.held.get(id) ?? null,
      approved: approval?.hash === hash && approval.asked !== true,
      ranAt: state.ran.get(id) ?? state.started.get(id)?.time ?? null,
    });
  }
  return found;
}

function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch {
    return []; // No document has a journal yet.
  }
}

function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return ""; // Removed meanwhile, or not readable: then nothing is known from it, and the call waits.
  }
}
