// Writes a growing reply to the document while it streams: at most one write per interval, in order.

import type { Problem } from "../../base/problem.ts";
import { after } from "../../base/system/timer.ts";
import type { DocumentStore, Piece } from "../types.ts";

/** Milliseconds between two writes of one reply. Together with the write itself, the interval stays within 200. */
const COMMIT_INTERVAL = 150;

/**
 * Factor for the pause between writes, which is a multiple of the last write's duration, because a write costs as much
 * as the document is long.
 */
const REST_AFTER_WRITE = 4;

const LF = 0x0a;

/**
 * Appends text to the block of a reply. The document ends with a line end after every write, so that an editor does not
 * add one. After an unfinished line, this line end is provisional: the next piece replaces it.
 */
export class ReplyCommits {
  readonly #store: DocumentStore;
  readonly #interval: number;
  /** Returns the text that may be written now, in pieces. The document may end after each of them. */
  readonly #take: () => readonly Piece[];
  /** Runs before each write. */
  readonly #before: () => Promise<void>;
  /** Number of bytes of the line end that the next piece replaces. */
  #provisional = 0;
  #begun = false;
  /** Cancels the scheduled write; undefined if none is scheduled. */
  #rest: (() => void) | undefined;
  #last = -Infinity;
  /** Milliseconds that the last write took. */
  #took = 0;
  /** Settles when the latest write is done; further writes wait for it. */
  #queue: Promise<void> = Promise.resolve();
  #problem: Problem | null = null;

  /** `before` is awaited before each write, when `take` has returned its text; it must not reject. */
  constructor(
    store: DocumentStore,
    take: () => readonly Piece[],
    options: { readonly interval?: number; readonly before?: () => Promise<void> } = {},
  ) {
    this.#store = store;
    this.#take = take;
    this.#interval = options.interval ?? COMMIT_INTERVAL;
    this.#before = options.before ?? (() => Promise.resolve());
  }

  /** Line of the document, 1-based, on which the block begins or would begin. */
  get line(): number {
    const { chat } = this.#store;
    const { growsFrom = chat.byteLength } = this.#store;
    if (growsFrom === 0) return 1;
    // If the text before the block ends with a line end, the block begins on the next line, which `lineAt` does not
    // count.
    const below = chat.slice(growsFrom - 1, growsFrom)[0] === LF ? 1 : 0;
    return chat.lineAt(growsFrom - 1) + below;
  }

  /** Schedules a write of new text once the interval has passed. */
  touch(): void {
    if (this.#rest !== undefined) return;
    const between = Math.max(this.#interval, REST_AFTER_WRITE * this.#took);
    const wait = Math.max(0, this.#last + between - performance.now());
    this.#rest = after(wait, () => {
      this.#rest = undefined;
      this.#enqueue(() => this.#add(this.#take(), false));
    });
  }

  /** Writes the text so far immediately; settles when it is durable. */
  async catchUp(): Promise<void> {
    this.#rest?.();
    this.#rest = undefined;
    this.#enqueue(() => this.#add(this.#take(), false));
    await this.#queue;
  }

  /**
   * Writes the last text after everything before it, and returns the first problem. `rest` gets true if a message of
   * the user already follows the reply. This text is written even after a conflict, because the store saves our
   * version aside and that version should be complete.
   */
  async finish(rest: (answered: boolean) => readonly Piece[]): Promise<Problem | null> {
    this.#rest?.();
    this.#rest = undefined;
    this.#enqueue(() => this.#add(rest(beginsMessage(this.#store.behind)), true));
    await this.#queue;
    return this.#problem;
  }

  #enqueue(write: () => Promise<void>): void {
    this.#queue = this.#queue.then(write);
  }

  async #add(pieces: readonly Piece[], last: boolean): Promise<void> {
    if (pieces.length === 0 && !(last && this.#begun)) return;
    const { eol } = this.#store.chat;
    const end = pieces.at(-1) ?? "";
    // A long piece is a block, and a block ends with a line end.
    const unfinished = !last && typeof end === "string" && !end.endsWith("\n");
    const replace = pieces.length === 0 ? 0 : this.#provisional;
    await this.#before();
    const began = performance.now();
    const text = unfinished ? [...pieces.slice(0, -1), end + eol] : pieces;
    const problem = await this.#store.extend(text, { replace, unfinished, last });
    this.#begun = true;
    this.#provisional = unfinished ? eol.length : 0;
    this.#last = performance.now();
    this.#took = this.#last - began;
    this.#problem ??= problem;
  }
}

/** True if a text begins with a role marker, ignoring blank lines. */
function beginsMessage(text: Uint8Array): boolean {
  return /^\s*@(System|You|Assistant):[ \t]*\r?$/m.test(
    new TextDecoder().decode(text).trimStart().split("\n", 1)[0] ?? "",
  );
}
