// Records which calls of a reply are in the document before the reply has ended. After a kill, calls of an unfinished
// reply must wait for the user.

import { thrownText } from "../../base/problem.ts";
import type { Emit, Journal } from "../types.ts";

/** The part of the journal that is used here. */
type ReplyRecord = Pick<Journal, "recordUnfinished" | "recordFinished">;

export class UnfinishedCalls {
  readonly #journal: ReplyRecord | undefined;
  readonly #emit: Emit;
  readonly #noted = new Set<string>();

  constructor({ journal, emit }: { readonly journal?: ReplyRecord; readonly emit: Emit }) {
    this.#journal = journal;
    this.#emit = emit;
  }

  /** Records these calls. Await the record before the calls are written. */
  async note(calls: readonly string[]): Promise<void> {
    const news = calls.filter((id) => !this.#noted.has(id));
    if (news.length === 0) return;
    news.forEach((id) => this.#noted.add(id));
    await this.#record((journal) => journal.recordUnfinished(news));
  }

  /** Records that the document shows how the reply ended. */
  async end(): Promise<void> {
    if (this.#noted.size > 0) await this.#record((journal) => journal.recordFinished([...this.#noted]));
  }

  /** A failure is reported, but does not discard a reply that was paid for. */
  async #record(use: (journal: ReplyRecord) => Promise<void>): Promise<void> {
    try {
      if (this.#journal !== undefined) await use(this.#journal);
    } catch (thrown) {
      const message = `Cannot write the journal of this document: ${thrownText(thrown)}. ` +
        "Free disk space, or set XDG_STATE_HOME to a writable folder.";
      this.#emit({ event: "notice", code: "state-unwritable", message });
    }
  }
}
