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

/** The journals of all documents. Each is read once, and again after it has changed. */
export class JournalSearch {
  readonly #folder: string;
  /** The hashes in each journal, by its name. */
  readonly #known = new Map<string, { readonly stamp: string; readonly hashes: ReadonlySet<string> }>();

  constructor(environment: Environment) {
    this.#folder = `${stateFolder(environment)}/journal`;
  }

  /** Finds the call in all journals but that of the document at `path`. */
  async find(path: string, id: string, hash: string): Promise<CallElsewhere[]> {
    const own = `${await documentKey(path)}.jsonl`;
    const found: CallElsewhere[] = [];
    for (const name of namesIn(this.#folder)) {
      if (name === own || !name.endsWith(".jsonl")) continue;
      const journal = `${this.#folder}/${name}`;
      if (!this.#hashesIn(name, journal).has(hash)) continue;
      const state = new JournalState(readEntries(textOf(journal)));
      const approval = state.approvals.get(id);
      found.push({
        held: state.held.get(id) ?? null,
        approved: approval?.hash === hash && approval.asked !== true,
        ranAt: state.ran.get(id) ?? state.started.get(id)?.time ?? null,
      });
    }
    return found;
  }

  #hashesIn(name: string, path: string): ReadonlySet<string> {
    const stamp = stampOf(path);
    const known = this.#known.get(name);
    if (known?.stamp === stamp) return known.hashes;
    const hashes = new Set([...textOf(path).matchAll(/"hash":"([^"]*)"/g)].map(([, hash]) => hash!));
    this.#known.set(name, { stamp, hashes });
    return hashes;
  }
}

/** What changes when a journal grows, or is replaced by a shorter file. */
function stampOf(path: string): string {
  try {
    const { size, mtime, ino } = Deno.lstatSync(path);
    return `${size} ${mtime?.getTime()} ${ino}`;
  } catch {
    return ""; // Removed meanwhile.
  }
}

function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return ""; // Removed meanwhile, or not readable: then nothing is known from it, and the call waits.
  }
}

function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch {
    return []; // No document has a journal yet.
  }
}
