// The messages of a document in order, in pages: groups of messages that versions of the document share.
//
// Pages are immutable. An edit creates new pages where messages changed and a new list of pages; the list is flat for
// the same reason as the list of chunks in text.ts.

import type { Tree } from "npm:@lezer/common@1.5.5";
import type { Message } from "./message.ts";

/** Maximum number of messages of a page. */
const FULL = 32;
/** A page with fewer messages than this is merged into its neighbour. */
const SMALL = 8;

/**
 * Facts about a group of messages (a page) that let diagnostics of the whole document skip the group; see diagnose.ts.
 */
export interface Summary {
  /** True if a message of the page has findings. */
  readonly findings: boolean;
  readonly results: boolean;
  readonly systems: number;
  readonly unknownRoles: boolean;
}

/** Consecutive messages. */
export class Page {
  readonly messages: readonly Message[];
  readonly length: number;
  /** Facts about the page, computed on first use. */
  summary: Summary | null = null;
  /** Tree of the page, computed on first use (trees.ts). */
  tree: Tree | null = null;

  constructor(messages: readonly Message[]) {
    this.messages = messages;
    this.length = messages.reduce((sum, message) => sum + message.length, 0);
  }
}

/** A message, its position in the document and the offset of its first byte. */
export interface Located {
  readonly message: Message;
  readonly index: number;
  readonly offset: number;
}

export class Conversation {
  readonly pages: readonly Page[];
  readonly count: number;
  /** First byte of each page, and the length of the document. */
  readonly #offsets: Float64Array;
  /** Position of each page's first message. */
  readonly #counts: Float64Array;

  /** `from` is the offset of the first message. */
  constructor(pages: readonly Page[], from: number) {
    this.pages = pages;
    this.#offsets = new Float64Array(pages.length + 1);
    this.#counts = new Float64Array(pages.length + 1);
    let offset = from;
    let count = 0;
    for (let index = 0; index < pages.length; index++) {
      this.#offsets[index] = offset;
      this.#counts[index] = count;
      offset += pages[index]!.length;
      count += pages[index]!.messages.length;
    }
    this.#offsets[pages.length] = offset;
    this.#counts[pages.length] = count;
    this.count = count;
  }

  pageOffset(page: number): number {
    return this.#offsets[page]!;
  }

  pageCount(page: number): number {
    return this.#counts[page]!;
  }

  /**
   * Returns the message that contains an offset; the first one for offsets before it, the last one at the end. The
   * document must have a message.
   */
  at(offset: number): Located {
    const page = search(this.#offsets, offset, this.pages.length);
    const { messages } = this.pages[page]!;
    let from = this.#offsets[page]!;
    let within = 0;
    while (within + 1 < messages.length && from + messages[within]!.length <= offset) {
      from += messages[within++]!.length;
    }
    return { message: messages[within]!, index: this.#counts[page]! + within, offset: from };
  }

  /** Returns the message at a position, which must exist. */
  get(index: number): Located {
    const page = search(this.#counts, index, this.pages.length);
    const { messages } = this.pages[page]!;
    let offset = this.#offsets[page]!;
    const within = index - this.#counts[page]!;
    for (let before = 0; before < within; before++) offset += messages[before]!.length;
    return { message: messages[within]!, index, offset };
  }

  /** Calls `visit` for the messages `from..to` in order. */
  each(from: number, to: number, visit: (message: Message, offset: number, index: number) => void): void {
    if (from >= to) return;
    let page = search(this.#counts, from, this.pages.length);
    let { offset } = this.get(from);
    for (let index = from; index < to; page++) {
      const { messages } = this.pages[page]!;
      for (let within = index - this.#counts[page]!; within < messages.length && index < to; within++) {
        const message = messages[within]!;
        visit(message, offset, index++);
        offset += message.length;
      }
    }
  }
}

/** Builds pages from new messages and those of an earlier version. */
export class Paging {
  readonly #pages: Page[] = [];
  #open: Message[] = [];

  add(message: Message): void {
    this.#open.push(message);
    if (this.#open.length === FULL) this.#flush();
  }

  /** Adds the messages `from..to` of a conversation; reuses complete pages. */
  take(old: Conversation, from: number, to: number): void {
    for (let page = 0; page < old.pages.length; page++) {
      const first = old.pageCount(page);
      const next = old.pageCount(page + 1);
      if (next <= from) continue;
      if (first >= to) return;
      if (first >= from && next <= to) {
        this.#flush();
        this.#pages.push(old.pages[page]!);
      } else {
        const { messages } = old.pages[page]!;
        for (let index = Math.max(first, from); index < Math.min(next, to); index++) {
          this.add(messages[index - first]!);
        }
      }
    }
  }

  finish(): Page[] {
    this.#flush();
    return this.#pages;
  }

  #flush(): void {
    if (this.#open.length === 0) return;
    const before = this.#pages.at(-1);
    if (
      before !== undefined && this.#open.length < SMALL && before.messages.length + this.#open.length <= FULL
    ) {
      this.#pages[this.#pages.length - 1] = new Page([...before.messages, ...this.#open]);
    } else {
      this.#pages.push(new Page(this.#open));
    }
    this.#open = [];
  }
}

/** Returns the index, below `count`, of the last entry not greater than `value`; 0 if all are greater. */
function search(sorted: Float64Array, value: number, count: number): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (sorted[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
