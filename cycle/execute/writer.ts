// Makes changes durable: edits one after the other, and the journal with them.

import { type Outcome, type Problem, thrownText } from "../../base/problem.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import type { Call, Chat } from "../../parser/types.ts";
import { callHash } from "../plan/call_hash.ts";
import type { Approval, DocumentStore, Emit, Journal } from "../types.ts";

/**
 * Called when it is these edits' turn, with the document at that time. Returns the edits, or the reason why there are
 * none.
 */
export type MakeEdits = (chat: Chat) => Outcome<readonly Edit[]> | Promise<Outcome<readonly Edit[]>>;

/** The decision about a call and who made it, or that the user was asked to decide. */
export type CallDecision = Omit<Approval, "hash"> & { readonly call: Call };

export class Writer {
  readonly #store: DocumentStore;
  readonly #journal: Journal;
  readonly #emit: Emit;
  #reportedEnds = false;
  /** Settles when the last requested commit is done; further commits wait for it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: DocumentStore, journal: Journal, emit: Emit) {
    this.#store = store;
    this.#journal = journal;
    this.#emit = emit;
  }

  /** Commits the edits that `make` returns once every earlier commit is done; an empty list writes nothing. */
  commit(make: MakeEdits): Promise<Problem | null> {
    const turn = this.#last.then(async () => {
      const made = await make(this.#store.chat);
      if (!made.ok) return made.problem;
      return made.value.length === 0 ? null : await this.#store.commit(made.value);
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  /**
   * Binds decisions and questions to the texts of their calls, so that the user approves the text they were asked about
   * and no other.
   */
  recordDecisions(decisions: readonly CallDecision[]): Promise<Problem | null> {
    if (decisions.length === 0) return Promise.resolve(null);
    return this.journal(async (journal) => {
      const approvals = new Map<string, Approval>();
      for (const { call, ...decision } of decisions) {
        approvals.set(call.id, { ...decision, hash: await callHash(call) });
      }
      await journal.recordApprovals(approvals);
    });
  }

  /** Saves a text that the document is about to lose, or cannot take, and reports the path. */
  keepBody(id: string, body: string, why: string): Promise<Problem | null> {
    return this.#keep(id, why, (journal) => journal.keepBody(id, body));
  }

  /**
   * Saves the result of a call that finished, if the document is about to lose it or cannot take it. The next run
   * reports the path.
   */
  keepResult(id: string, body: string, why: string): Promise<Problem | null> {
    return this.#keep(id, why, (journal) => journal.keepResult(id, body));
  }

  #keep(id: string, why: string, save: (journal: Journal) => Promise<string>): Promise<Problem | null> {
    return this.journal(async (journal) => {
      const message = `${why}. The text is saved in ${await save(journal)}.`;
      this.#emit({ event: "notice", code: "body-kept", message, id });
    });
  }

  /**
   * Records that a call has ended. A failure is reported once and is not an error: the result in the document says the
   * same to the next run.
   */
  async recordEnd(id: string): Promise<void> {
    const problem = await this.journal((journal) => journal.recordEnd(id));
    if (problem === null || this.#reportedEnds) return;
    this.#reportedEnds = true;
    this.#emit({ event: "notice", code: problem.code, message: `${problem.message} ${problem.next}`, id });
  }

  /** Uses the journal; an exception (a full disk, a folder without permission) becomes a problem. */
  async journal(use: (journal: Journal) => Promise<void>): Promise<Problem | null> {
    try {
      await use(this.#journal);
      return null;
    } catch (thrown) {
      return {
        code: "state-unwritable",
        message: `Cannot write the journal of this document: ${thrownText(thrown)}.`,
        next: "Free disk space, or set XDG_STATE_HOME to a writable folder.",
      };
    }
  }
}
