// How often each id is called and answered in a document, updated from version to version.

import type { Message, MessageBlocks } from "../tree/message.ts";

/**
 * Counts of ids. All versions of a document share one object. It contains the counts of the version that used it last.
 * If another version cannot be derived from that version, it counts its ids again.
 */
export class Ids {
  /** Ids with a result but no call, or with more than one result. */
  readonly faulty = new Set<string>();
  readonly #calls = new Map<string, number>();
  readonly #results = new Map<string, number>();
  /** Number of the version that the counts match. */
  version = 0;

  isCalled(id: string): boolean {
    return this.#calls.has(id);
  }

  /** Adds the calls and results of a message (`times` 1), or removes them (`times` -1). */
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

/**
 * Maximum number of changed messages that are tracked. If more have changed, counting all ids again takes no longer.
 */
const MOST_PENDING = 1000;

/** How a version differs from the one that the counts match. */
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

  /**
   * Returns the difference with the changes of one more update added; null if the difference is too large to be useful.
   */
  with(removed: readonly Message[], added: readonly Message[]): Pending | null {
    if (this.removed.size + removed.length + this.added.size + added.length > MOST_PENDING) return null;
    const gone = new Set(this.removed);
    const fresh = new Set(this.added);
    for (const message of removed) if (!fresh.delete(message)) gone.add(message);
    for (const message of added) fresh.add(message);
    return new Pending(this.ids, this.version, gone, fresh);
  }
}
