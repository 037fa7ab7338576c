// A document that exists only in this process: filter mode, where the text comes in and goes out whole.

import type { Problem } from "../../base/problem.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { parse, update } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { type BlockPlace, shifted } from "./growing_block.ts";
import type { DocumentStore, Growth } from "../types.ts";

/** A document that exists only in this process. Nothing is ever in the way of its commits. */
export class MemoryStore implements DocumentStore {
  readonly path: string | null;
  readonly named: string | null;
  readonly #onChange: (text: Uint8Array) => void;
  #chat: Chat;
  #changed = false;
  /** The block that grows now. */
  #block: BlockPlace | null = null;

  /**
   * Holds these bytes as the document.
   *
   * @param bytes the text
   * @param path the name that relative references use; that file is never touched
   * @param onChange told the whole text after each change of it
   * @param named `path` before links were followed
   */
  constructor(
    bytes: Uint8Array,
    path: string | null,
    onChange: (text: Uint8Array) => void = () => {},
    named: string | null = path,
  ) {
    this.path = path;
    this.named = named;
    this.#onChange = onChange;
    this.#chat = parse(bytes);
  }

  /** The document now. */
  get chat(): Chat {
    return this.#chat;
  }

  /** Whether anything was committed. */
  get changed(): boolean {
    return this.#changed;
  }

  /** Takes another text as the document. */
  replace(bytes: Uint8Array): void {
    this.#take(parse(bytes));
  }

  #take(chat: Chat): void {
    this.#chat = chat;
    this.#changed = true;
    this.#onChange(chat.bytes);
  }

  get behind(): Uint8Array {
    return this.#chat.slice(this.#block?.end ?? this.#chat.byteLength, this.#chat.byteLength);
  }

  async extend(text: string, { replace, last }: Growth): Promise<Problem | null> {
    const length = this.#chat.byteLength;
    const { start, end } = this.#block ?? { start: length, end: length };
    const problem = await this.commit([{ from: end - replace, to: end, insert: text }]);
    this.#block = last ? null : { start, end: end + this.#chat.byteLength - length };
    return problem;
  }

  commit(edits: readonly Edit[]): Promise<Problem | null> {
    if (edits.length > 0) {
      if (this.#block !== null) this.#block = shifted(this.#block, edits);
      this.#take(update(this.#chat, edits));
    }
    return Promise.resolve(null);
  }
}
