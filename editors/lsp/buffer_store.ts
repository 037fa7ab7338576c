// Stores a document in an editor's buffer. It asks the editor to apply the edits of the run, and merges what the person
// types meanwhile. The buffer is authoritative; text that it does not take is saved for recovery.

import type { Environment } from "../../base/environment.ts";
import type { Problem } from "../../base/problem.ts";
import { readOnDisk } from "../../cycle/storage/read.ts";
import { SavedText } from "../../cycle/storage/saved_text.ts";
import { cutMarker, grow, shiftBlock } from "../../cycle/storage/growing_block.ts";
import { countChangedLines, difference, splitLines } from "../../cycle/storage/lines.ts";
import { graftResults } from "../../cycle/storage/merge.ts";
import type { ReleasableLock } from "../../cycle/storage/lock.ts";
import type { DocumentStore, Growth, Piece, Reclaim } from "../../cycle/types.ts";
import { concat } from "../../base/bytes.ts";
import { summarizeOpenCalls } from "../../cycle/plan/open_calls.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { dropRepeatedPrompt } from "../../parser/edits/turn.ts";
import { parse, update } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { EarlierVersions } from "./earlier_versions.ts";
import { editsBetween, movedPast, sameText } from "./text_edits.ts";

/**
 * Milliseconds in which an editor that has answered must report the change. The report shows that the editor took the
 * edit.
 */
const PATIENCE = 2000;
/** Milliseconds in which an editor must answer; some editors ask the person first. */
const LONGEST_ANSWER = 120_000;

/** An edit that the editor is asked to apply. */
export interface WantedEdit {
  /** The version of the buffer that the edits apply to. */
  readonly version: number;
  /** The text of that version, for counting positions. */
  readonly chat: Chat;
  readonly edits: readonly Edit[];
}

export interface BufferOptions {
  readonly environment: Environment;
  /** Real path of the document; null if it has none yet. */
  readonly path: string | null;
  readonly named: string | null;
  /** Asks the editor; settles when it has answered. The answer itself is not relied on. */
  readonly ask: (wanted: WantedEdit) => Promise<unknown>;
  /** Called when `chat` has changed. */
  readonly changed: () => void;
  /** Receives problems for the person. */
  readonly notify: (problem: Problem) => void;
  /** Milliseconds to wait for the editor's report. @default 2000 */
  readonly patience?: number;
}

/** A write that waits until the editor takes our text. */
interface Flush {
  resolve(problem: Problem | null): void;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** The text that the editor was last asked for; null while a reply waits for the blocks of its calls. */
  asked: Chat | null;
}

const NOTHING = parse(new Uint8Array(0));

export class BufferStore implements DocumentStore {
  readonly #options: BufferOptions;
  /** The buffer as the editor last showed it. */
  #buffer: Chat;
  #version: number;
  readonly earlier = new EarlierVersions();
  /** The document as the program wants it; newer than the buffer until the editor has applied our edits. */
  #chat: Chat;
  #flush: Flush | null = null;
  /** Settles when every committed edit is in the buffer or was abandoned. */
  #last: Promise<Problem | null> = Promise.resolve(null);
  /**
   * The range of the reply in bytes of `chat`. Fixed when the reply is requested, so that the person can type the
   * next question below it.
   */
  #block: { start: number; end: number } | null = null;
  /** The reply so far, which goes into `chat` when it is complete; null if none streams. */
  #draft: Chat | null = null;
  /** Settles when the editor has a reply that waited; null once somebody else receives the outcome. */
  #held: Promise<Problem | null> | null = null;
  #savedText: SavedText | null = null;
  /** Reason why our edits cannot be applied; null while the editor's text is known. */
  #refusal: Problem | null = null;
  #asking = Promise.withResolvers<void>();
  /** The lock of the run that works on the document; null if none does, or if the document has no path. */
  lock: ReleasableLock | null = null;

  constructor(text: string, version: number, options: BufferOptions) {
    this.#options = options;
    this.#version = version;
    this.#buffer = this.#chat = parse(new TextEncoder().encode(text));
  }

  get path(): string | null {
    return this.#options.path;
  }

  get named(): string | null {
    return this.#options.named;
  }

  get chat(): Chat {
    return this.#chat;
  }

  onDisk(): Promise<Chat | null> {
    return this.path === null ? Promise.resolve(this.#chat) : readOnDisk(this.path);
  }

  /** The text as the editor has it. */
  get buffer(): Chat {
    return this.#buffer;
  }

  get version(): number {
    return this.#version;
  }

  get behind(): Uint8Array {
    const end = this.#block?.end ?? this.#chat.byteLength;
    return this.#chat.slice(end, this.#chat.byteLength);
  }

  get growsFrom(): number {
    return this.#block?.start ?? this.#chat.byteLength;
  }

  async release(): Promise<void> {
    const left = await this.lock?.release() ?? null;
    if (left !== null) this.#options.notify(left);
  }

  /** The buffer is authoritative, so only the lock is taken. */
  async reclaim(how: Reclaim): Promise<Problem | null> {
    if (this.lock === null || this.lock.isHeld) return null;
    const taken = await this.lock.take(how);
    if (!taken.ok) return taken.problem;
    if (taken.value !== null) this.#options.notify(taken.value);
    return null;
  }

  /** Number of bytes of a streaming reply, which `chat` does not contain yet. */
  get draftLength(): number {
    return this.#draft?.byteLength ?? 0;
  }

  /** Settles the next time the editor is asked for an edit. */
  asking(): Promise<void> {
    return this.#asking.promise;
  }

  /** Fixes the place of a reply at the present end of the document, or releases that place. */
  expectReply(expected: boolean): void {
    if (this.#draft !== null) {
      this.#draft = null;
      this.#savedText?.close(false);
      this.#savedText = null;
    }
    this.#block = expected ? { start: this.#chat.byteLength, end: this.#chat.byteLength } : null;
  }

  commit(edits: readonly Edit[]): Promise<Problem | null> {
    if (edits.length === 0) return this.#flush?.asked === null ? this.#write() : this.#last;
    if (this.#block !== null) this.#block = shiftBlock(this.#block, edits, "into");
    this.#chat = update(this.#chat, edits);
    return this.#write();
  }

  /**
   * Adds to the reply. Until it is complete, the reply is only saved for recovery. A complete reply with calls waits for
   * the blocks of these calls, so that one undo removes both.
   */
  extend(pieces: readonly Piece[], { replace, last }: Growth): Promise<Problem | null> {
    const draft = this.#draft ?? NOTHING;
    this.#draft = grow(draft, draft.byteLength, replace, pieces);
    if (!last) {
      this.#keep();
      return Promise.resolve(null);
    }
    const { end } = this.#place;
    const insert = this.#draft.bytes;
    this.#draft = null;
    this.#chat = update(this.#chat, [{ from: end, to: end, insert }]);
    this.#block = null;
    const waits = this.#flush === null && this.#refusal === null &&
      summarizeOpenCalls(this.#chat).open.length > 0;
    if (!waits) return this.#write();
    this.#held = this.#write({ hold: true });
    return Promise.resolve(null);
  }

  /** Asks the editor for a reply whose calls got no blocks. Returns why the editor does not have a reply that waited. */
  async deliver(): Promise<Problem | null> {
    const held = this.#held;
    if (held === null) return null;
    this.#held = null;
    if (this.#flush?.asked === null) this.#ask();
    return await held;
  }

  /** The byte of the editor's text at which a reply begins, or would begin. */
  #placeIn(buffer: Chat): number {
    return this.#block === null || this.#chat !== buffer ? buffer.byteLength : this.#block.start;
  }

  get #place(): { readonly start: number; readonly end: number } {
    return this.#block ?? { start: this.#chat.byteLength, end: this.#chat.byteLength };
  }

  /** Accepts a new text of the editor, which contains our edits, the person's, or both. */
  take(version: number, buffer: Chat, made: readonly Edit[]): void {
    if (this.#refusal === OUT_OF_SYNC) this.#refusal = null;
    const before = this.#buffer;
    const edits = made.map((edit) => pastLineEnd(edit, before, this.#placeIn(before)));
    const behind = this.#chat !== before;
    const asked = this.#flush?.asked ?? null;
    const isOurs = asked !== null && sameText(buffer, asked);
    this.earlier.add({ version: this.#version, chat: before, isOurs });
    this.#buffer = buffer;
    this.#version = version;
    if (!behind) {
      if (this.#block !== null) this.#block = shiftBlock(this.#block, edits, "into");
      this.#chat = buffer;
    } else if (!this.#isTaken(before, buffer)) {
      const merged = merge(before, this.#chat, buffer, edits);
      if (merged === null) return this.#giveUp(CONFLICT);
      if (this.#block !== null) this.#block = shiftBlock(this.#block, edits, "into");
      this.#chat = merged;
      if (this.#flush?.asked !== null) this.#ask();
    }
    this.#options.changed();
  }

  /** Handles that the editor closed the document: saves text that the editor did not take. */
  close(): void {
    this.#refuse(CLOSED);
  }

  /** Handles that the editor's text is unknown from now on. Nothing is written until `take` receives it again. */
  loseSync(): void {
    this.#refuse(OUT_OF_SYNC);
  }

  /** Reason why the document cannot be edited now; null if it can be. */
  get refusal(): Problem | null {
    return this.#refusal;
  }

  #refuse(problem: Problem): void {
    this.#refusal = problem;
    if (this.#flush !== null) this.#giveUp(problem);
  }

  /** True if the buffer now contains our text. Also adopts what the person typed at the same moment. */
  #isTaken(before: Chat, buffer: Chat): boolean {
    const asked = this.#flush?.asked ?? null;
    if (asked === null) return false;
    if (!sameText(buffer, asked)) {
      // An editor may report its own edit and ours together. Then its text is closer to ours than to the old one.
      const lines = splitLines(buffer.bytes);
      const far = (chat: Chat) => {
        const hunks = difference(splitLines(chat.bytes), lines, (line) => line);
        return hunks === null ? Infinity : countChangedLines(hunks);
      };
      if (far(asked) >= far(before)) return false;
    }
    if (this.#chat === asked) {
      this.#chat = buffer;
      this.#settle(null);
      return true;
    }
    // More edits were committed meanwhile. So the editor is asked to apply these too, to the present text.
    const merged = merge(asked, this.#chat, buffer, editsBetween(asked.bytes, buffer.bytes));
    if (merged === null) {
      this.#giveUp(CONFLICT);
      return true;
    }
    this.#chat = merged;
    this.#ask();
    return true;
  }

  #write({ hold } = { hold: false }): Promise<Problem | null> {
    this.#options.changed();
    this.#keep();
    if (this.#flush === null) {
      this.#last = new Promise((resolve) => {
        this.#flush = { resolve, timer: undefined, asked: null };
        if (this.#refusal !== null) this.#giveUp(this.#refusal);
      });
    }
    if (!hold) {
      this.#held = null;
      if (this.#flush?.asked === null) this.#ask();
    }
    return this.#last;
  }

  #ask(): void {
    const flush = this.#flush;
    if (flush === null) return;
    flush.asked = this.#chat;
    this.#waitFor(flush, LONGEST_ANSWER);
    const edits = editsBetween(this.#buffer.bytes, this.#chat.bytes);
    if (edits.length === 0) {
      this.#chat = this.#buffer;
      return this.#settle(null);
    }
    const { asked } = flush;
    void this.#options.ask({ version: this.#version, chat: this.#buffer, edits }).then(() => {
      if (this.#flush === flush && flush.asked === asked) {
        this.#waitFor(flush, this.#options.patience ?? PATIENCE);
      }
    });
    this.#asking.resolve();
    this.#asking = Promise.withResolvers<void>();
  }

  #waitFor(flush: Flush, milliseconds: number): void {
    clearTimeout(flush.timer);
    flush.timer = setTimeout(() => this.#giveUp(NOT_TAKEN), milliseconds);
  }

  /**
   * Saves our text before asking the editor, because the program may be killed, or the editor may not take the edit.
   */
  #keep(): void {
    this.#savedText ??= new SavedText(this.#options.environment, this.#options.notify);
    this.#savedText.update(this.#draft === null ? this.#chat.bytes : this.#asCut(this.#draft));
  }

  /** Returns the text to recover if the program ends during a reply. */
  #asCut(draft: Chat): Uint8Array {
    const { end } = this.#place;
    const marker = cutMarker(draft, { start: 0, end: draft.byteLength }, this.#chat.eol);
    const [above, below] = [this.#chat.slice(0, end), this.#chat.slice(end, this.#chat.byteLength)];
    return concat([above, draft.bytes, new TextEncoder().encode(marker), below]);
  }

  /** Saves text that the editor did not take, for `flemma recover`, and continues from the buffer. */
  #giveUp({ code, message, next: remedy }: Problem): void {
    const kept = this.#savedText?.close(false) ?? null;
    this.#savedText = null;
    this.#block = null;
    this.#chat = this.#buffer;
    const next = kept === null ? remedy : `To get the text of the run: flemma recover ${kept}`;
    this.#settle({ code, message, ...(next === undefined ? {} : { next }) });
    this.#options.changed();
  }

  #settle(problem: Problem | null): void {
    const flush = this.#flush;
    if (flush === null) return;
    clearTimeout(flush.timer);
    this.#flush = null;
    if (problem === null && this.#draft !== null) this.#keep();
    else if (problem === null) {
      this.#savedText?.close(true);
      this.#savedText = null;
    }
    flush.resolve(problem);
  }
}

/**
 * A line opened below the last one before a reply is text below that place. Editors insert its line end before that of
 * the last line; the same text results if the new line is inserted behind it.
 */
function pastLineEnd(edit: Edit, chat: Chat, place: number): Edit {
  const { from, to, insert } = edit;
  const { eol } = chat;
  if (from !== to || from + eol.length !== place || !insert.startsWith(eol)) return edit;
  if (new TextDecoder().decode(chat.slice(from, place)) !== eol) return edit;
  return { from: place, to: place, insert: insert.slice(eol.length) + eol };
}

/**
 * Merges our text with the editor's, both made from `base`; null if both changed the same bytes.
 *
 * @param edits what the person changed
 */
function merge(base: Chat, ours: Chat, theirs: Chat, edits: readonly Edit[]): Chat | null {
  const moved = movedPast(editsBetween(base.bytes, ours.bytes), edits);
  // The result of a call goes into the text even if the person changed the status of its block.
  if (moved === null) return graftResults(base, ours, theirs);
  const merged = update(theirs, moved);
  const repeated = dropRepeatedPrompt(merged, ours, theirs);
  return repeated === null ? merged : update(merged, [repeated]);
}

const CONFLICT: Problem = {
  code: "document-changed",
  message: "You changed the lines that this run was about to write. Your text stays.",
};
const NOT_TAKEN: Problem = {
  code: "edit-not-taken",
  message: "The editor rejected an edit of this run.",
};
const OUT_OF_SYNC: Problem = {
  code: "document-out-of-sync",
  message: "The editor reported an invalid change, so its text is unknown and flemma edits nothing.",
  next: "Close and reopen the document in the editor.",
};
const CLOSED: Problem = {
  code: "document-closed",
  message: "The document was closed in the editor while this run was about to write it.",
};
