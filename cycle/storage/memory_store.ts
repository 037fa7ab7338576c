// A document that exists only in this process: filter mode, where the text comes in and goes out whole.

import type { Problem } from "../../base/problem.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { parse, update } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import type { DocumentStore } from "../types.ts";

/** A document that exists only in this process. Nothing is ever in the way of its commits. */
export class MemoryStore implements DocumentStore {
  readonly path: string | null;
  #chat: Chat;

  /** `path` is the name that relative references use; that file is never touched. */
  constructor(bytes: Uint8Array, path: string | null) {
    this.path = path;
    this.#chat = parse(bytes);
  }

  /** The document now. */
  get chat(): Chat {
    return this.#chat;
  }

  /** Takes another text as the document. */
  replace(bytes: Uint8Array): void {
    this.#chat = parse(bytes);
  }

  commit(edits: readonly Edit[]): Promise<Problem | null> {
    if (edits.length > 0) this.#chat = update(this.#chat, edits);
    return Promise.resolve(null);
  }
}
