// Makes changes durable: edits one after the other, and the journal with them.

import { STATE_REMEDY } from "../../base/folders.ts";
import { type Outcome, type Problem, problemLine, thrownText } from "../../base/problem.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { helperOf } from "../../parser/edits/result_block.ts";
import type { Call, Chat } from "../../parser/types.ts";
import { callHash, permittedHash } from "../plan/call_hash.ts";
import { firstLine } from "../plan/open_calls.ts";
import { turnsBefore } from "../plan/conversation.ts";
import type { Approval, AskedAlthough, DocumentStore, Emit, Journal, KnownCall } from "../types.ts";

/**
 * Called when it is these edits' turn, with the document at that time. Returns the edits, or the reason why there are
 * none.
 */
export type MakeEdits = (chat: Chat) => Outcome<readonly Edit[]> | Promise<Outcome<readonly Edit[]>>;

/** The decision about a call and who made it, or that the user was asked to decide. */
export type CallDecision = Omit<Approval, "hash"> & { readonly call: Call };

/** From here on, only a new approval counts. */
export const QUESTION = { by: "person", asked: true } as const;

function hasApproved(journal: Pick<Journal, "approval">, id: string): boolean {
  const approval = journal.approval(id);
  return approval !== null && approval.asked !== true;
}

export class Writer {
  readonly #store: DocumentStore;
  readonly #journal: Journal;
  readonly #emit: Emit;
  readonly #askedAlthough: (id: string) => AskedAlthough | null;
  #reported = false;
  /** Settles when the last requested commit is done; further commits wait for it. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param askedAlthough why the user is asked about a call that says `approved` */
  constructor(
    store: DocumentStore,
    journal: Journal,
    emit: Emit,
    askedAlthough: (id: string) => AskedAlthough | null = () => null,
  ) {
    this.#store = store;
    this.#journal = journal;
    this.#emit = emit;
    this.#askedAlthough = askedAlthough;
  }

  /** Returns the first line of a call's block; null if it has none. */
  lineOf(id: string): number | null {
    return firstLine(this.#store.chat, [id]);
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
   * and no other. Also records which calls have a block now.
   *
   * @param waiting further calls that wait for the user
   */
  async recordDecisions(
    decisions: readonly CallDecision[],
    waiting: readonly Call[] = [],
  ): Promise<Problem | null> {
    const calls = [...decisions.map(({ call }) => call), ...waiting];
    if (calls.length === 0) return null;
    const problem = await this.journal(async (journal) => {
      const held = new Map<string, KnownCall>();
      for (const call of calls) held.set(call.id, await this.#held(call));
      const approvals = new Map<string, Approval>();
      for (const { call, ...decision } of decisions) {
        const { hash } = held.get(call.id)!;
        const permits = await permittedHash(this.#store.chat, call);
        approvals.set(call.id, { ...decision, hash, ...(permits === hash ? {} : { permits }) });
      }
      for (const { id } of waiting) {
        // The user withdrew the approval in the text. A host may still return the text from before it approved the
        // call itself; nothing was withdrawn then.
        // A call that waits in another document is pending although it is approved.
        const result = this.#store.chat.result(id);
        const waits = result !== undefined && helperOf(result) !== null;
        const isWithdrawn = hasApproved(journal, id) && !journal.isFromThisRun(id) && !waits;
        if (isWithdrawn && !approvals.has(id)) approvals.set(id, { ...QUESTION, hash: held.get(id)!.hash });
      }
      await journal.recordApprovals(approvals, held);
    });
    if (problem === null || decisions.length > 0) return problem;
    // Without the record only an approval by a command counts; the calls wait in any case.
    this.#report(problem);
    return null;
  }

  /**
   * Records what a server needs to go on with a call. From here on, only a new approval of the call counts.
   */
  async recordAsked(call: Call, state: string): Promise<Problem | null> {
    const hash = await callHash(call);
    return await this.journal((journal) => journal.recordAsked(call.id, { hash, state })) ??
      await this.recordDecisions([{ ...QUESTION, call }]);
  }

  /** Records that earlier approvals of these calls no longer count. A failure is reported and is not an error. */
  async recordWithdrawn(calls: readonly Call[]): Promise<void> {
    const approved = calls.filter(({ id }) => hasApproved(this.#journal, id));
    const problem = await this.recordDecisions(approved.map((call) => ({ ...QUESTION, call })));
    if (problem !== null) this.#report(problem);
  }

  async #held(call: Call): Promise<KnownCall> {
    const asked = this.#askedAlthough(call.id);
    const [hash, turns] = await Promise.all([callHash(call), turnsBefore(this.#store.chat, call)]);
    return { hash, turns, ...(asked === null ? {} : { asked }) };
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

  /** Records that a message reported that a call may have run. Without the record, the next run reports it again. */
  async recordReported(id: string): Promise<void> {
    const problem = await this.journal((journal) => journal.recordReported(id));
    if (problem !== null) this.#report(problem);
  }

  /** Forgets that calls may have run, if a message reported it before a person approved them. */
  async forgetReported(calls: readonly Call[]): Promise<void> {
    for (const { id } of calls) {
      if (this.#journal.started().get(id)?.reported === true) await this.recordEnd(id);
    }
  }

  /**
   * Records that a call has ended, and with `ran` that it has its result. A failure is reported once and is not an error:
   * the result in the document says the same to the next run.
   */
  async recordEnd(id: string, how: { readonly ran?: boolean } = {}): Promise<void> {
    const problem = await this.journal((journal) => journal.recordEnd(id, how));
    if (problem !== null) this.#report(problem);
  }

  #report(problem: Problem): void {
    if (this.#reported) return;
    this.#reported = true;
    this.#emit({ event: "notice", code: problem.code, message: problemLine(problem) });
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
        next: STATE_REMEDY,
      };
    }
  }
}
