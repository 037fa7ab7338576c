// Documents in memory, for filter mode, in which the text is read and written as a whole.

import type { Problem } from "../../base/problem.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { parse, update } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { readOnDisk } from "./read.ts";
import { type BlockPlace, cutMarker, grow, shiftBlock } from "./growing_block.ts";
import type { DocumentStore, Growth, Piece } from "../types.ts";

/** A document that exists only in this process. Its commits never fail. */
export class MemoryStore implements DocumentStore {
  readonly path: string | null;
  readonly named: string | null;
  readonly #onChange: (text: Uint8Array, asCut: () => Uint8Array) => void;
  #chat: Chat;
  #changed = false;
  #block: BlockPlace | null = null;

  /**
   * Creates a store with these bytes as the document.
   * @param bytes the text
   * @param path the name that relative references use; the store never writes that file
   * @param onChange called after each change with the whole text, and with a function that returns the text to leave
   * behind if the program ends: it marks a growing reply as cut off
   * @param named `path` before symbolic links were resolved
   */
  constructor(
    bytes: Uint8Array,
    path: string | null,
    onChange: (text: Uint8Array, asCut: () => Uint8Array) => void = () => {},
    named: string | null = path,
  ) {
    this.path = path;
    this.named = named;
    this.#onChange = onChange;
    this.#chat = parse(bytes);
  }

  /** The current document. */
  get chat(): Chat {
    return this.#chat;
  }

  /** True if anything was committed. */
  get changed(): boolean {
    return this.#changed;
  }

  /** Replaces the document with another text. */
  replace(bytes: Uint8Array): void {
    this.#take(parse(bytes));
  }

  #take(chat: Chat): void {
    this.#chat = chat;
    this.#changed = true;
    this.#onChange(chat.bytes, () => this.#asCut());
  }

  onDisk(): Promise<Chat | null> {
    return this.path === null ? Promise.resolve(this.#chat) : readOnDisk(this.path);
  }

  get behind(): Uint8Array {
    return this.#chat.slice(this.#block?.end ?? this.#chat.byteLength, this.#chat.byteLength);
  }

  get growsFrom(): number {
    return this.#block?.start ?? this.#chat.byteLength;
  }

  async extend(pieces: readonly Piece[], { replace, last }: Growth): Promise<Problem | null> {
    const length = this.#chat.byteLength;
    const { start, end } = this.#block ?? { start: length, end: length };
    const chat = grow(this.#chat, end, replace, pieces);
    this.#block = last ? null : { start, end: end + chat.byteLength - length };
    this.#take(chat);
    return await Promise.resolve(null);
  }

  commit(edits: readonly Edit[]): Promise<Problem | null> {
    if (edits.length > 0) {
      if (this.#block !== null) this.#block = shiftBlock(this.#block, edits, "above");
      this.#take(update(this.#chat, edits));
    }
    return Promise.resolve(null);
  }

  /** Returns the document to leave behind if the program ends now. A growing block is marked as cut off. */
  #asCut(): Uint8Array {
    const chat = this.#chat;
    if (this.#block === null) return chat.bytes;
    const { end } = this.#block;
    const marker = cutMarker(chat, this.#block);
    return update(chat, [{ from: end, to: end, insert: marker }]).bytes;
  }
}
