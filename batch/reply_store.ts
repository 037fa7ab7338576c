// The store of a document whose reply a batch brought. To the run it shows the text that was sent; the reply then takes the
// place of the placeholder in one write, so that a kill leaves either the placeholder or the whole reply.

import { sameBytes } from "../base/bytes.ts";
import type { Problem } from "../base/problem.ts";
import type { DocumentStore, Growth, Piece } from "../cycle/types.ts";
import type { Edit } from "../parser/edits/edit.ts";
import { parse } from "../parser/mod.ts";
import type { Chat } from "../parser/types.ts";
import { replyPlaceholder } from "../parser/view/placeholder.ts";

export class ReplyStore implements DocumentStore {
  readonly #inner: DocumentStore;
  readonly #item: string;
  /** The text that was sent. */
  readonly #sent: Uint8Array;
  readonly #view: Chat;
  /** Called with the text of the reply before it is written. */
  readonly #before: (text: string) => Promise<void>;
  readonly #pieces: string[] = [];
  #isWritten = false;

  /**
   * @param inner the document in its file
   * @param item id of the request
   * @param bytes length of the text that was sent, with which the document still begins
   * @param before called with the text of the reply before it is written. @default nothing is called
   */
  constructor(
    inner: DocumentStore,
    item: string,
    bytes: number,
    before: (text: string) => Promise<void> = () => Promise.resolve(),
  ) {
    this.#inner = inner;
    this.#item = item;
    this.#sent = inner.chat.slice(0, bytes);
    this.#view = parse(this.#sent);
    this.#before = before;
  }

  /** True once the reply is in the document. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  get path(): string | null {
    return this.#inner.path;
  }

  get named(): string | null {
    return this.#inner.named ?? this.#inner.path;
  }

  get chat(): Chat {
    return this.#isWritten ? this.#inner.chat : this.#view;
  }

  get leftElsewhere(): boolean {
    return this.#inner.leftElsewhere ?? false;
  }

  get behind(): Uint8Array {
    return this.#isWritten ? this.#inner.behind : this.#below;
  }

  get growsFrom(): number {
    return this.#isWritten ? this.#inner.growsFrom ?? this.#inner.chat.byteLength : this.#sent.length;
  }

  get draftLength(): number {
    return this.#isWritten ? this.#inner.draftLength ?? 0 : 0;
  }

  async refresh(): Promise<Problem | null> {
    const problem = await this.#inner.refresh?.() ?? null;
    return problem ?? (this.#isWritten ? null : this.#obstacle());
  }

  async commit(edits: readonly Edit[]): Promise<Problem | null> {
    if (this.#isWritten) return await this.#inner.commit(edits);
    return edits.length === 0 ? null : CHANGED;
  }

  async extend(pieces: readonly Piece[], growth: Growth): Promise<Problem | null> {
    if (this.#isWritten) return await this.#inner.extend(pieces, growth);
    for (const piece of pieces) this.#pieces.push(typeof piece === "string" ? piece : [...piece].join(""));
    if (!growth.last) return null;
    const problem = await this.#inner.refresh?.() ?? this.#obstacle();
    if (problem !== null) return problem;
    const text = this.#pieces.join("");
    await this.#before(text);
    const place = this.#place(isBlank(this.#below));
    const written = await this.#inner.commit([{ ...place, insert: text }]);
    this.#isWritten = written === null;
    return written;
  }

  /** Removes the placeholder, because no reply comes for it. The text is then what it was before the batch. */
  async takeBack(): Promise<Problem | null> {
    const problem = await this.#inner.refresh?.() ?? this.#obstacle();
    if (problem !== null) return problem;
    return await this.#inner.commit([{ ...this.#place(isBlank(this.#below)), insert: "" }]);
  }

  /** Returns what to replace: everything after the text that was sent, up to the person's words below. */
  #place(toEnd: boolean): { readonly from: number; readonly to: number } {
    const { chat } = this.#inner;
    const to = toEnd ? chat.byteLength : replyPlaceholder(chat)?.place.to ?? chat.byteLength;
    return { from: this.#sent.length, to };
  }

  /** The text below the placeholder. */
  get #below(): Uint8Array {
    const { chat } = this.#inner;
    return chat.slice(replyPlaceholder(chat)?.place.to ?? chat.byteLength, chat.byteLength);
  }

  #obstacle(): Problem | null {
    const { chat } = this.#inner;
    const isSame = replyPlaceholder(chat)?.item === this.#item &&
      sameBytes(chat.slice(0, this.#sent.length), this.#sent);
    return isSame ? null : CHANGED;
  }
}

const CHANGED: Problem = {
  code: "document-changed",
  message: "The text above the placeholder was changed while the reply was written.",
  next: "Fetch again: flemma batch fetch",
};

function isBlank(text: Uint8Array): boolean {
  return text.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}
