// How often each id is called and answered in a whole document, kept up to date from version to version.

import type { Message, MessageBlocks } from "../tree/message.ts";

/**
 * Counts of ids. There is one for all versions of a document; it knows the latest version that asked. A version
 * whose forebear it does not know any more counts anew.
 */
export class Ids {
  /** Ids with a result that has no call, or with more than one result. */
  readonly faulty = new Set<string>();
  readonly #calls = new Map<string, number>();
  readonly #results = new Map<string, number>();
  /** Told to the versions that the counts hold for. */
  version = 0;

  isCalled(id: string): boolean {
    return this.#calls.has(id);
  }

  /** Adds what a message calls and answers, `times` being 1, or takes it away, `times` being -1. */
  count(blocks: MessageBlocks, times: 1 | -1): void {
    for (const { id } of blocks.calls) this.#bump(this.#calls, id, times);
    for (const { id } of blocks.results) this.#bump(this.#results, id, times);
  }

  #bump(counts: Map<string, number>, id: string, times: number): void {
    const count = (counts.get(id) ?? 0) + times;
    if (count > 0) counts.set(id, count);
    else counts.delete(id);
    const results = this.#results.get(id) ?? 0;
    if (results > 1 || (results === 1 && !this.#calls.has(id))) this.faulty.add(id);
    else this.faulty.delete(id);
  }
}

/** So many changed messages are not kept track of any more: counting anew is as cheap. */
const MOST_PENDING = 1000;

/** How a version differs from the one that some counts hold for. */
export class Pending {
  readonly ids: Ids;
  readonly version: number;
  readonly removed: ReadonlySet<Message>;
  readonly added: ReadonlySet<Message>;

  constructor(ids: Ids, version: number, removed: ReadonlySet<Message>, added: ReadonlySet<Message>) {
    this.ids = ids;
    this.version = version;
    this.removed = removed;
    this.added = added;
  }

  /** The difference after a further update; `null` when it is too large to be of use. */
  with(removed: readonly Message[], added: readonly Message[]): Pending | null {
    if (this.removed.size + removed.length + this.added.size + added.length > MOST_PENDING) return null;
    const gone = new Set(this.removed);
    const fresh = new Set(this.added);
    for (const message of removed) if (!fresh.delete(message)) gone.add(message);
    for (const message of added) fresh.add(message);
    return new Pending(this.ids, this.version, gone, fresh);
  }
}
