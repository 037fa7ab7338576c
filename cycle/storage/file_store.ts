// A document in a file: locked, read once, written after every step, and watched for other writers.

import { sameBytes } from "../../base/bytes.ts";
import type { Environment } from "../../base/environment.ts";
import { type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { absolutePath } from "../../base/paths.ts";
import { shellWord } from "../../base/shell_word.ts";
import { readRegular } from "../../base/system/regular_file.ts";
import { readSettled } from "../../base/system/settled.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { dropRepeatedPrompt } from "../../parser/edits/turn.ts";
import { parse, update } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import type { DocumentStore, Growth, Piece, Reclaim } from "../types.ts";
import { type Content, sameContent } from "./disk/content.ts";
import { DiskFile, type Foreign } from "./disk/disk_file.ts";
import { type BlockPlace, grow, mergeGrowing, shiftBlock, startedFrom } from "./growing_block.ts";
import { type DocumentLock, lockDocument, ReleasableLock } from "./lock.ts";
import type { GrownText } from "./disk/extension.ts";
import {
  describeChangedMeanwhile,
  describeConflict,
  describeDisobeyed,
  describeFailedWrite,
  describeRemoved,
  describeRemovedMeanwhile,
  type Lost,
} from "./disk/lost.ts";
import { removeLeftovers } from "./disk/leftovers.ts";
import { mergeFrom, withoutWithdrawn } from "./merge.ts";
import { checkWritable, findDocument, type ReadDocument, readDocument } from "./read.ts";
import { OverwriteGuard, saveAside } from "./disk/rescue.ts";

export interface FileStoreOptions {
  readonly environment: Environment;
  /** Seconds to wait for another run's lock; 0 fails immediately. */
  readonly wait: number;
  /** Where the lock file is. @default state */
  readonly place?: Settings["lock"]["place"];
  /** Signal that cancels the wait when the signal aborts. */
  readonly signal?: AbortSignal;
  /** Opens without a lock and never writes. */
  readonly readOnly?: boolean;
  /** Called with notices: problems that are not failures. */
  readonly notify?: (notice: Problem) => void;
  /** For tests: called between checking the file and the operation that relies on the check. */
  readonly between?: () => Promise<void>;
}

/** Opens the document at `path`. Fails like `readDocument`, or with `document-locked`. */
export async function openFile(path: string, options: FileStoreOptions): Promise<Outcome<FileStore>> {
  const named = absolutePath(options.environment, path);
  if (options.readOnly) {
    const read = await readDocument(path, options.environment);
    return read.ok ? success(new FileStore({ ...read.value, named }, null, options)) : read;
  }
  const found = await writablePath(path, options);
  if (!found.ok) return found;
  const lock = await lockDocument(found.value, options);
  if (!lock.ok) return lock;
  if (lock.value.notice !== null) await takeOver(lock.value.notice, found.value, options);
  const opened = await openLocked({ realPath: found.value, named, label: path }, lock.value, options);
  if (!opened.ok) await lock.value.release();
  return opened;
}

/** Returns the real path of a document that can be written. Its text is read under the lock. */
async function writablePath(path: string, { environment }: FileStoreOptions): Promise<Outcome<string>> {
  const found = findDocument(path, environment);
  if (!found.ok) return found;
  const unwritable = await checkWritable(path, found.value);
  if (unwritable === null) return found;
  // A document that is also unreadable needs more than write permission, so that problem is reported instead.
  const read = await readDocument(path, environment);
  return read.ok ? { ok: false, problem: unwritable } : read;
}

/** Reports that a run was killed, and removes the files that it left. Failing to remove them is not an error. */
async function takeOver(
  notice: Problem,
  realPath: string,
  { environment, notify }: FileStoreOptions,
): Promise<void> {
  notify?.(notice);
  try {
    await removeLeftovers(realPath, environment);
  } catch (thrown) {
    const message = `Cannot remove temporary files of an earlier run next to ${realPath}: ${
      thrownText(thrown)
    }.`;
    notify?.({ code: "leftovers", message });
  }
}

/** Reads the text only under the lock: the previous holder may have written, or died while writing. */
async function openLocked(
  { realPath, named, label }: { readonly realPath: string; readonly named: string; readonly label: string },
  lock: DocumentLock,
  options: FileStoreOptions,
): Promise<Outcome<FileStore>> {
  const read = await readFilled(realPath, options.environment, label);
  // A write cut off inside a character leaves invalid UTF-8, so repair comes before validation.
  const raw = read.ok ? read.value.bytes : await rawBytes(realPath);
  if (raw === null) return read as Outcome<never>;
  const recovered = await completeWrite(realPath, raw, options);
  if (!recovered.ok) return recovered;
  const now = recovered.value ? await readDocument(realPath, options.environment, label) : read;
  return now.ok ? success(new FileStore({ ...now.value, named }, lock, options)) : now;
}

/** Reads a document; an empty one again after a moment, because another program may have emptied it to write it. */
async function readFilled(
  realPath: string,
  environment: Environment,
  label: string,
): Promise<Outcome<ReadDocument>> {
  const read = await readDocument(realPath, environment, label);
  if (!read.ok || read.value.bytes.length > 0) return read;
  await readSettled(() => rawBytes(realPath), read.value.bytes, { patient: true });
  return await readDocument(realPath, environment, label);
}

/** Completes a write that an earlier run could not complete. True if there was one. */
async function completeWrite(
  realPath: string,
  bytes: Uint8Array,
  { environment, notify }: FileStoreOptions,
): Promise<Outcome<boolean>> {
  try {
    const guard = await OverwriteGuard.for(realPath, environment);
    const recovered = await guard.recover(realPath, bytes);
    if (recovered !== null) notify?.(recovered);
    return success(recovered !== null);
  } catch (thrown) {
    const message =
      `An earlier run was interrupted while writing ${realPath}, and flemma cannot complete the write: ${
        thrownText(thrown)
      }.`;
    return { ok: false, problem: { code: "write-failed", message } };
  }
}

async function rawBytes(path: string): Promise<Uint8Array | null> {
  try {
    return await readRegular(path);
  } catch {
    // `readDocument` has already reported why reading failed.
    return null;
  }
}

/** Number of earlier texts of this run that are kept, because an editor may still hold one and write it back. */
const MAX_VERSIONS = 8;

interface Growing {
  place: BlockPlace;
  /** True if the last line of the block will continue. */
  unfinished: boolean;
  /** Reason why the run must stop once the block is complete; null if it may continue. */
  problem: Problem | null;
}

export class FileStore implements DocumentStore {
  /** The path with symbolic links resolved. */
  readonly path: string;
  readonly named: string;
  readonly #options: FileStoreOptions;
  readonly #lock: ReleasableLock | null;
  readonly #file: DiskFile;
  /** Earlier texts that this run had in the file, newest first. */
  #versions: readonly Content[] = [];
  #growing: Growing | null = null;
  /** The text with the last growing block. An editor may still write back one of the block's intermediate states. */
  #grown: { readonly text: () => Uint8Array; readonly block: BlockPlace } | null = null;
  /** The intended document, which is ahead of the disk while a write is pending. */
  #chat: Chat;
  /** If this is set, the run saves its text to `#aside` instead of writing the file. */
  #lost: Lost | null = null;
  #aside: string | null = null;
  #writing: Promise<Problem | null> = Promise.resolve(null);
  #isBound: () => boolean = () => false;
  /** True from `release` to `reclaim`. */
  #isReleased = false;
  /** Calls whose approval came from another writer. */
  readonly #approvedByOthers = new Set<string>();
  /** Called with a text of another writer before this run takes it over. */
  checkForeign: (foreign: Foreign) => Promise<void> = () => Promise.resolve();

  constructor(
    read: ReadDocument & { readonly named: string },
    lock: DocumentLock | null,
    options: FileStoreOptions,
  ) {
    this.path = read.realPath;
    this.named = read.named;
    this.#chat = parse(read.bytes);
    this.#file = new DiskFile(read.realPath, { content: this.#chat, stamp: read.stamp }, options);
    this.#lock = lock === null ? null : new ReleasableLock(read.realPath, lock, options);
    this.#options = options;
  }

  get chat(): Chat {
    return this.#chat;
  }

  /** True if a run with another journal was killed. That run may have started approved calls. */
  get leftElsewhere(): boolean {
    return this.#lock?.leftElsewhere ?? false;
  }

  /**
   * While this returns true the file is overwritten in place. A running sandbox binds it read-only; a rename would
   * leave that mount on the old file and expose the new one to the sandboxed process.
   */
  set inPlaceWhile(answer: () => boolean) {
    this.#isBound = answer;
    this.#file.inPlaceWhile = answer;
  }

  /** True when every byte of `chat` is in the file. */
  get saved(): boolean {
    return this.#lost === null && sameContent(this.#file.content, this.#chat);
  }

  /**
   * Applies edits to `chat` immediately and writes the file; resolves when the text is durable. Calls made during a
   * write are written together after it. After a conflict `chat` continues as our version and is saved aside each time,
   * so that late results are not lost; the returned problem stays the conflict.
   */
  commit(edits: readonly Edit[]): Promise<Problem | null> {
    if (this.#lock === null) throw new Error("a document opened for reading cannot be written");
    if (this.#isReleased) return this.#commitReleased(edits);
    if (edits.length > 0) {
      this.#chat = update(this.#chat, edits);
      if (this.#growing !== null) this.#growing.place = shiftBlock(this.#growing.place, edits, "above");
    }
    this.#writing = this.#writing.then(() => this.#flush());
    return this.#writing;
  }

  refresh(): Promise<Problem | null> {
    this.#writing = this.#writing.then(() => this.#flush(undefined, { look: true }));
    return this.#writing;
  }

  release(): Promise<void> {
    const lock = this.#lock;
    if (lock === null) return Promise.resolve();
    this.#isReleased = true;
    const done = this.#writing.then(async () => {
      if (!this.#isReleased || this.#isBound() || await this.#flush() !== null) return;
      if (this.saved) await this.#letGo(lock);
    });
    this.#writing = done.then(() => null);
    return done;
  }

  reclaim(how: Reclaim): Promise<Problem | null> {
    this.#writing = this.#writing.then(async () => {
      const problem = await this.#takeAgain(how);
      if (problem === null) this.#isReleased = false;
      return problem;
    });
    return this.#writing;
  }

  /** Takes lock and text as when a document is opened, but keeps what this run knows about earlier texts. */
  async #takeAgain(how: Reclaim): Promise<Problem | null> {
    const lock = this.#lock;
    if (lock === null) return null;
    if (lock.isHeld) return await this.#flush(undefined, { look: true });
    const taken = await lock.take(how);
    if (!taken.ok) return taken.problem;
    if (taken.value !== null) await takeOver(taken.value, this.path, this.#options);
    const raw = await rawBytes(this.path);
    const completed = raw === null ? null : await completeWrite(this.path, raw, this.#options);
    if (completed?.ok === false) return completed.problem;
    if (raw !== null || !await this.#isGone()) return await this.#flush(undefined, { look: true });
    // Everything that this run knows was in the file when it was removed, so there is nothing to save.
    await this.#letGo(lock);
    return describeRemovedMeanwhile(this.path);
  }

  /** Writes edits of a released document, unless it was changed meanwhile. */
  #commitReleased(edits: readonly Edit[]): Promise<Problem | null> {
    const { chat } = this;
    this.#writing = this.#writing.then(async () => {
      const problem = await this.#takeAgain(this.#options);
      if (problem !== null) return problem;
      const isSame = chat === this.#chat;
      if (isSame) this.#chat = update(this.#chat, edits);
      const done = isSame ? await this.#flush() : describeChangedMeanwhile(this.path);
      if (this.#isReleased && this.saved) await this.#letGo(this.#lock!);
      return done;
    });
    return this.#writing;
  }

  async #letGo(lock: ReleasableLock): Promise<void> {
    const left = await lock.release();
    if (left !== null) this.#options.notify?.(left);
  }

  /** True if the file stays missing: an editor may be about to recreate it. */
  async #isGone(): Promise<boolean> {
    try {
      await this.#file.foreign({ patient: true });
      return false;
    } catch (thrown) {
      if (thrown instanceof Deno.errors.NotFound) return true;
      throw thrown;
    }
  }

  get behind(): Uint8Array {
    const end = this.#growing?.place.end ?? this.#chat.byteLength;
    return this.#chat.slice(end, this.#chat.byteLength);
  }

  get growsFrom(): number {
    return this.#growing?.place.start ?? this.#chat.byteLength;
  }

  extend(pieces: readonly Piece[], { replace, unfinished, last }: Growth): Promise<Problem | null> {
    this.#writing = this.#writing.then(async () => {
      // The place is read only now, because merging a text of another writer during the earlier write may have moved
      // the block.
      const { start, end } = this.#growing?.place ??
        { start: this.#chat.byteLength, end: this.#chat.byteLength };
      const before = this.#chat;
      this.#chat = grow(this.#chat, end, replace, pieces);
      const place = { start, end: end + this.#chat.byteLength - before.byteLength };
      if (this.#growing === null) this.#remember(this.#file.content);
      this.#growing = { problem: null, ...this.#growing, place, unfinished };
      // The file holds all earlier text unless another commit is also waiting.
      const known = this.#file.content === before && areStrings(pieces);
      const problem = await this.#flush(known ? { from: end - replace, pieces } : undefined);
      if (!last) return problem;
      const after = problem ?? this.#growing?.problem ?? null;
      const { chat } = this;
      this.#grown = this.#growing === null ? null : { text: () => chat.bytes, block: this.#growing.place };
      this.#growing = null;
      return after;
    });
    return this.#writing;
  }

  /** Waits for the last write, checks once more for a foreign text that was overwritten, and releases the lock. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#lock?.isHeld === true && this.#lost === null) await this.#flush();
    this.#file.close();
    if (this.#lock !== null) await this.#letGo(this.#lock);
  }

  /**
   * Writes the file; `grown` is the text that the file lacks, if nothing else differs. With `look`, takes over changes of
   * others also if there is nothing to write.
   */
  async #flush(grown?: GrownText, { look = false } = {}): Promise<Problem | null> {
    if (this.#lost !== null) return await this.#keepAside();
    try {
      while (look || this.#file.hasReplaced || !sameContent(this.#file.content, this.#chat)) {
        const foreign = await this.#file.foreign();
        if (foreign !== null) {
          if (!await this.#merge(foreign) && !await this.#mergeLater(foreign)) {
            return await this.#lose(describeConflict(this.path));
          }
          grown = undefined;
          continue;
        }
        if (sameContent(this.#file.content, this.#chat)) return null;
        const before = this.#file.content;
        const text = this.#chat;
        if (!await this.#file.write(text, grown)) {
          // Another writer may have started from the text that we were about to write.
          this.#remember(text);
          continue;
        }
        // The last state of a growing block contains every earlier one.
        if (this.#growing === null) this.#remember(before);
      }
      return null;
    } catch (thrown) {
      if (thrown instanceof Deno.errors.NotFound) return await this.#lose(describeRemoved(this.path));
      return await this.#lose(describeFailedWrite(this.path, thrown));
    }
  }

  #remember(text: Content): void {
    this.#versions = [text, ...this.#versions].slice(0, MAX_VERSIONS);
  }

  /** A text that cannot be merged may be an unfinished save, so it is read again after a delay. */
  async #mergeLater({ found, astray }: Foreign): Promise<boolean> {
    const later = astray ? null : await this.#file.foreign({ patient: true });
    return later !== null && !sameBytes(later.found, found) && await this.#merge(later);
  }

  async #merge(foreign: Foreign): Promise<boolean> {
    const { text: theirs, astray } = foreign;
    // Edits may be committed during the check, so the merge begins only after it. Otherwise the merge would lose them.
    await this.checkForeign(foreign);
    const merged = this.#growing === null ? this.#merged(theirs) : this.#mergedGrowing(theirs, this.#growing);
    if (merged === null) return false;
    if (!astray) {
      this.#remember(this.#file.content);
      this.#file.take(foreign);
      // While a block grows, no write remembers the text that it replaces.
      if (this.#growing !== null) this.#remember(this.#file.content);
    }
    const before = this.#chat;
    const their = parse(theirs);
    this.#chat = withoutWithdrawn(parse(merged), their, this.#approvedByOthers);
    const repeated = dropRepeatedPrompt(this.#chat, before, their);
    if (repeated !== null) {
      this.#chat = update(this.#chat, [repeated]);
      const growing = this.#growing;
      if (growing !== null) growing.place = shiftBlock(growing.place, [repeated], "into");
    }
    for (const { id, status } of this.#chat.results) {
      if (status === "approved" && before.result(id)?.status !== "approved") this.#approvedByOthers.add(id);
    }
    this.#options.notify?.({
      code: "document-merged",
      message: `Another program changed ${this.path} during the run; both changes are kept.`,
    });
    return true;
  }

  #merged(theirs: Uint8Array): Uint8Array | null {
    const bases = [this.#file.content, ...this.#versions].map(({ bytes }) => bytes);
    if (this.#grown !== null) {
      const { text, block } = this.#grown;
      bases.push(startedFrom({ text: text(), block }, theirs));
    }
    return mergeFrom(bases, this.#chat.bytes, theirs);
  }

  #mergedGrowing(theirs: Uint8Array, growing: Growing): Uint8Array | null {
    const merged = mergeGrowing({ text: this.#chat.bytes, block: growing.place }, theirs, growing.unfinished);
    if (merged === null) return null;
    growing.place = merged.block;
    if (!merged.sameAuthority) growing.problem ??= describeDisobeyed(this.path);
    return merged.text;
  }

  #lose(lost: Lost): Promise<Problem> {
    this.#lost = lost;
    return this.#keepAside();
  }

  /** Saves our text next to the file; replaces an earlier copy of this run. */
  async #keepAside(): Promise<Problem> {
    const { code, message, saved, next } = this.#lost!;
    const aside = await saveAside(this.path, this.#chat.bytes, this.#options.environment, this.#aside);
    if ("error" in aside) {
      return { code, message: `${message} Saving the text of this run failed too: ${aside.error}.` };
    }
    this.#aside = aside.path;
    return {
      code,
      message: `${message} ${saved(aside.path)}`,
      next: next(`diff ${shellWord(this.path)} ${shellWord(aside.path)}`),
    };
  }
}

/** True if every piece is a string; a long text must be written with the whole file. */
function areStrings(pieces: readonly Piece[]): pieces is readonly string[] {
  return pieces.every((piece) => typeof piece === "string");
}
