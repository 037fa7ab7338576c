// Brings a growing reply to the document while it streams: at most one commit per interval, in order.

import type { Problem } from "../../base/problem.ts";
import type { Chat } from "../../parser/mod.ts";
import type { DocumentStore } from "../types.ts";

/** Milliseconds between two commits of one reply; with the time of a write it stays within cli 4.4's 200. */
export const COMMIT_INTERVAL = 150;

const encoder = new TextEncoder();

/** Appends text to the end of a document, and only while that end is the one it wrote itself. */
export class ReplyCommits {
  readonly #store: DocumentStore;
  readonly #interval: number;
  /** Gives the text that may be written by now. */
  readonly #take: () => string;
  readonly #onProblem: () => void;
  /** What must still end the document, lest text land in somebody else's: of the reply, once it began, its last line. */
  #tail: Uint8Array;
  #began = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = -Infinity;
  /** Settles when the latest commit is done; commits queue up behind it. */
  #queue: Promise<void> = Promise.resolve();
  #problem: Problem | null = null;

  constructor(store: DocumentStore, take: () => string, onProblem: () => void, interval = COMMIT_INTERVAL) {
    this.#store = store;
    this.#take = take;
    this.#onProblem = onProblem;
    this.#interval = interval;
    const { chat } = store;
    this.#tail = chat.slice(Math.max(0, chat.byteLength - TAIL), chat.byteLength).slice();
  }

  /** Says that there may be new text; it is committed once the interval has passed. */
  touch(): void {
    if (this.#timer !== undefined || this.#problem !== null) return;
    const wait = Math.max(0, this.#last + this.#interval - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#enqueue(this.#take);
    }, wait);
  }

  /** Commits the rest, after everything before it, and answers the first problem there was. */
  async finish(rest: () => string): Promise<Problem | null> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Also after a conflict: the store keeps our version aside, and it should be whole.
    this.#enqueue(rest);
    await this.#queue;
    return this.#problem;
  }

  #enqueue(take: () => string): void {
    this.#queue = this.#queue.then(() => this.#commit(take()));
  }

  async #commit(text: string): Promise<void> {
    if (text === "") return;
    const problem = await this.#append(text);
    this.#last = performance.now();
    if (problem === null || this.#problem !== null) return;
    this.#problem = problem;
    this.#onProblem();
  }

  async #append(text: string): Promise<Problem | null> {
    const { chat } = this.#store;
    if (!endsWith(chat, this.#tail)) {
      return {
        code: "document-changed",
        message: "The end of the document was changed by someone else while the reply was being written.",
        next: "Look at the document, then send again.",
      };
    }
    const at = chat.byteLength;
    const problem = await this.#store.commit([{ from: at, to: at, insert: text }]);
    this.#tail = lastLine(this.#began ? this.#tail : NOTHING, encoder.encode(text));
    this.#began = true;
    return problem;
  }
}

/** Bytes of the document's end that are compared before each append, at most. */
const TAIL = 256;
const NOTHING = new Uint8Array(0);

/**
 * The last line of the reply so far, with its line end. Not more of it: a change further up, in the question or in
 * lines that came already, is merged by the store and is no reason to drop what is still to come (cli 4.3).
 */
function lastLine(before: Uint8Array, added: Uint8Array): Uint8Array {
  const joined = new Uint8Array(before.length + added.length);
  joined.set(before);
  joined.set(added, before.length);
  return joined.slice(Math.max(joined.lastIndexOf(LF, -2) + 1, joined.length - TAIL));
}

const LF = 0x0a;

/** Looks at the end alone: all bytes of a long document are joined only where somebody needs them. */
function endsWith(chat: Chat, tail: Uint8Array): boolean {
  const offset = chat.byteLength - tail.length;
  if (offset < 0) return false;
  const end = chat.slice(offset, chat.byteLength);
  return tail.every((byte, index) => end[index] === byte);
}
