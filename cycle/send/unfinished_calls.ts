// Notes which calls of a reply reach the document before the reply has ended: should the program be killed in between, a half
// reply must not run anything by itself.

import { thrownText } from "../../base/problem.ts";
import type { Emit, ReplyMemory } from "../types.ts";

/** The calls of one reply. */
export class UnfinishedCalls {
  readonly #memory: ReplyMemory | undefined;
  readonly #emit: Emit;
  readonly #noted = new Set<string>();

  constructor({ replies, emit }: { readonly replies?: ReplyMemory; readonly emit: Emit }) {
    this.#memory = replies;
    this.#emit = emit;
  }

  /** To be waited for before these calls are written. */
  async note(calls: readonly string[]): Promise<void> {
    const news = calls.filter((id) => !this.#noted.has(id));
    if (news.length === 0) return;
    news.forEach((id) => this.#noted.add(id));
    await this.#record((memory) => memory.recordUnfinished(news));
  }

  /** The document shows how the reply ended. */
  async end(): Promise<void> {
    if (this.#noted.size > 0) await this.#record((memory) => memory.recordFinished([...this.#noted]));
  }

  /** A reply that was paid for is not given up because of this; that it cannot be noted is told. */
  async #record(use: (memory: ReplyMemory) => Promise<void>): Promise<void> {
    try {
      if (this.#memory !== undefined) await use(this.#memory);
    } catch (thrown) {
      const message = `The journal of this document cannot be written: ${thrownText(thrown)}. ` +
        "Make room, or name a writable state folder with XDG_STATE_HOME.";
      this.#emit({ event: "notice", code: "state-unwritable", message });
    }
  }
}
