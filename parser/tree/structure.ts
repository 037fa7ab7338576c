// Head and messages of a document, read completely or updated after edits.

import { Conversation, Paging } from "./conversation.ts";
import type { ByteReplacement } from "../text/replacement.ts";
import { type Head, readHead } from "./head.ts";
import { type Message, MessageReader } from "./message.ts";
import type { Text } from "../text/text.ts";

/** The parts of a document in order. */
export interface Structure {
  readonly head: Head;
  readonly conversation: Conversation;
}

/** What an update changed, for indexes over all messages. */
export interface Difference {
  readonly structure: Structure;
  /** Removed and new messages; null if everything changed. */
  readonly messages: { readonly removed: readonly Message[]; readonly added: readonly Message[] } | null;
  /** Number of unchanged messages at the beginning. */
  readonly kept: number;
}

/** One replaced range: old bytes `fromA..toA` became new bytes `fromB..toB`. */
interface Change {
  readonly fromA: number;
  toA: number;
  readonly fromB: number;
  toB: number;
}

export function readStructure(text: Text): Structure {
  const head = readHead(text);
  const reader = new MessageReader(text);
  const paging = new Paging();
  for (let at = head.length; at < text.length;) {
    const message = reader.read(at);
    paging.add(message);
    at += message.length;
  }
  return { head, conversation: new Conversation(paging.finish(), head.length) };
}

/**
 * Returns the structure of `text`, which was made by replacements in the text of `before`. It equals
 * `readStructure(text)`.
 */
export function updateStructure(
  old: Structure,
  before: Text,
  text: Text,
  replacements: readonly ByteReplacement[],
): Difference {
  const changes = changesOf(replacements);
  const first = changes[0]!.fromA;
  const opening = old.conversation.count > 0 ? old.conversation.get(0).message.marker : 0;
  // A line far below may close open frontmatter, so in that case the head is read again for every edit.
  const touched = first <= old.head.length + opening || old.head.frontmatterUnclosed;
  const head = touched ? readHead(text) : old.head;
  if (
    before.crlf !== text.crlf || before.origin !== text.origin ||
    head.frontmatterUnclosed !== old.head.frontmatterUnclosed
  ) return { structure: readStructure(text), messages: null, kept: 0 };
  return new Update(old.conversation, text, changes).run(head, touched);
}

/** Returns the replaced ranges in both versions, ascending; adjacent edits are merged. */
function changesOf(replacements: readonly ByteReplacement[]): Change[] {
  const changes: Change[] = [];
  let delta = 0;
  for (const { from, to, insert } of replacements) {
    const last = changes.at(-1);
    if (last !== undefined && last.toA === from) {
      last.toA = to;
      last.toB += insert.length;
    } else {
      changes.push({ fromA: from, toA: to, fromB: from + delta, toB: from + delta + insert.length });
    }
    delta += insert.length - (to - from);
  }
  return changes;
}

/**
 * For each change, reads messages again, from the first message that the change touches to the next unchanged message.
 */
class Update {
  readonly #old: Conversation;
  readonly #text: Text;
  readonly #changes: readonly Change[];
  readonly #paging = new Paging();
  readonly #removed: Message[] = [];
  readonly #added: Message[] = [];
  /** Index of the next change to process. */
  #change = 0;
  /** Position in the old messages. Messages before it are reused or removed. */
  #next = 0;
  /** Number of messages that were reused before the first new one. */
  #kept = 0;

  constructor(old: Conversation, text: Text, changes: readonly Change[]) {
    this.#old = old;
    this.#text = text;
    this.#changes = changes;
  }

  run(head: Head, headTouched: boolean): Difference {
    const reader = new MessageReader(this.#text);
    let at = head.length;
    let synced = headTouched ? this.#syncs(at) : true;
    for (;;) {
      if (synced) {
        const change = this.#changes[this.#change];
        if (change === undefined) {
          this.#take(this.#old.count);
          break;
        }
        if (this.#old.count > this.#next) {
          const { message, index, offset } = this.#old.at(change.fromA);
          // A change in the marker line may join the message to the message before it. If the message is empty and its
          // marker line has no line end, a change right after the line may do the same.
          const inMarker = change.fromA < offset + message.marker || message.length === message.marker;
          this.#take(index - (inMarker ? 1 : 0));
        }
        at = (this.#next < this.#old.count ? this.#old.get(this.#next).offset : change.fromA) + this.#shift();
      }
      if (at >= this.#text.length) {
        this.#drop(this.#old.count);
        break;
      }
      const message = reader.read(at);
      this.#paging.add(message);
      this.#added.push(message);
      at += message.length;
      synced = this.#syncs(at);
    }
    return {
      structure: { head, conversation: new Conversation(this.#paging.finish(), head.length) },
      messages: { removed: this.#removed, added: this.#added },
      kept: headTouched ? 0 : this.#kept,
    };
  }

  /** Returns the number of bytes by which the processed changes moved the text after them. */
  #shift(): number {
    const last = this.#changes[this.#change - 1];
    return last === undefined ? 0 : last.toB - last.toA;
  }

  /**
   * True if an unchanged old message begins at offset `at` of the new text. At this offset a message begins or the
   * document ends. If true, the old messages from there to the next change are still valid. Drops the old messages
   * before the offset.
   */
  #syncs(at: number): boolean {
    for (
      let change = this.#changes[this.#change];
      change !== undefined && change.fromB < at && change.toB <= at;
      change = this.#changes[++this.#change]
    );
    const inside = this.#changes[this.#change];
    if (inside !== undefined && inside.fromB < at) return false;
    if (at >= this.#text.length) {
      if (inside === undefined) this.#drop(this.#old.count);
      return inside === undefined;
    }
    const was = at - this.#shift();
    if (this.#old.count === 0) return false;
    const { index, offset } = this.#old.at(was);
    if (offset !== was || index < this.#next) return false;
    this.#drop(index);
    return true;
  }

  #take(to: number): void {
    if (to <= this.#next) return;
    this.#paging.take(this.#old, this.#next, to);
    if (this.#next === 0 && this.#added.length === 0) this.#kept = to;
    this.#next = to;
  }

  #drop(to: number): void {
    if (to <= this.#next) return;
    this.#old.each(this.#next, to, (message) => this.#removed.push(message));
    this.#next = to;
  }
}
