// A document in a file: locked, read once, written after every step, and watched for other writers (cli section 4).

import { sameBytes } from "../../base/bytes.ts";
import type { Environment } from "../../base/environment.ts";
import { type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { shellWord } from "../../base/shell_word.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { parse, update } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import type { DocumentStore } from "../types.ts";
import { type DocumentLock, lockDocument } from "./lock.ts";
import { continues, mergeDocuments } from "./merge.ts";
import { checkWritable, readDocument, sameStamp, type Stamp, stampOf } from "./read.ts";
import { OverwriteGuard, saveAside } from "./rescue.ts";
import { appendFile, MAX_APPEND_BYTES, overwriteFile, replaceFile } from "./write.ts";

export interface OpenOptions {
  readonly environment: Environment;
  /** Seconds to wait for another run's lock; 0 fails at once. */
  readonly wait: number;
  /** Aborting it ends the waiting. */
  readonly signal?: AbortSignal;
  /** Reports read without lock and never write. */
  readonly readOnly?: boolean;
  /** Told of everything a person should know that is no failure. */
  readonly notify?: (notice: Problem) => void;
}

/** Opens the document at `path`. The refusals are those of cli section 9 and `document-locked`. */
export async function openFile(path: string, options: OpenOptions): Promise<Outcome<FileStore>> {
  const first = await readDocument(path, options.environment);
  if (!first.ok) return first;
  if (options.readOnly) return success(new FileStore(first.value, null, options));
  const unwritable = await checkWritable(path, first.value.realPath);
  if (unwritable !== null) return { ok: false, problem: unwritable };
  const lock = await lockDocument(first.value.realPath, options);
  if (!lock.ok) return lock;
  if (lock.value.notice !== null) options.notify?.(lock.value.notice);
  const opened = await openLocked(first.value.realPath, lock.value, options);
  if (!opened.ok) await lock.value.release();
  return opened;
}

/** Whoever held the lock before may have written, or died while it wrote; so the text is read again. */
async function openLocked(
  realPath: string,
  lock: DocumentLock,
  options: OpenOptions,
): Promise<Outcome<FileStore>> {
  const read = await readDocument(realPath, options.environment);
  // A write that was cut off inside a character leaves invalid UTF-8: mending comes before judging.
  const raw = read.ok ? read.value.bytes : await rawBytes(realPath);
  if (raw === null) return read as Outcome<never>;
  try {
    const guard = await OverwriteGuard.for(realPath, options.environment);
    const recovered = await guard.recover(realPath, raw);
    if (recovered === null) return read.ok ? success(new FileStore(read.value, lock, options)) : read;
    options.notify?.(recovered);
  } catch (thrown) {
    const message = `${realPath}: a write that was cut off cannot be completed: ${thrownText(thrown)}.`;
    return { ok: false, problem: { code: "write-failed", message } };
  }
  const again = await readDocument(realPath, options.environment);
  return again.ok ? success(new FileStore(again.value, lock, options)) : again;
}

async function rawBytes(path: string): Promise<Uint8Array | null> {
  try {
    return await Deno.readFile(path);
  } catch {
    // Whatever is wrong with reading has been said by readDocument.
    return null;
  }
}

/** Files up to this size are compared byte by byte before each write, since times are coarse; larger ones when they differ. */
const ALWAYS_COMPARE_BYTES = 4 * 1024 * 1024;

export class FileStore implements DocumentStore {
  /** The path after all symbolic links. */
  readonly path: string;
  readonly #options: OpenOptions;
  readonly #lock: DocumentLock | null;
  /** What we know to be on disk, and the file's stamp when we knew it. */
  #disk: Uint8Array;
  #stamp: Stamp;
  /** The document as it should be; ahead of the disk while a write is on its way. */
  #chat: Chat;
  /** Once set, the file is out of our hands and our text goes to `#aside`. */
  #lost: Lost | null = null;
  #aside: string | null = null;
  #writing: Promise<Problem | null> = Promise.resolve(null);
  #closed = false;
  /**
   * While this answers true the file is overwritten in place. A sandbox that runs binds it read-only, and a
   * rename would leave that mount on the old file and the new one open to whoever runs inside.
   */
  inPlaceWhile: () => boolean = () => false;

  constructor(
    read: { readonly realPath: string; readonly bytes: Uint8Array; readonly stamp: Stamp },
    lock: DocumentLock | null,
    options: OpenOptions,
  ) {
    this.path = read.realPath;
    this.#disk = read.bytes;
    this.#stamp = read.stamp;
    this.#chat = parse(read.bytes);
    this.#lock = lock;
    this.#options = options;
  }

  get chat(): Chat {
    return this.#chat;
  }

  /** True when every byte of `chat` is in the file. */
  get saved(): boolean {
    return this.#lost === null && sameBytes(this.#disk, this.#chat.bytes);
  }

  /**
   * Applies edits to `chat` at once and writes the file; answers when the text is durable. Calls that come while a
   * write is under way are written together after it. After a conflict `chat` goes on as our version and is saved
   * aside each time, so that results which arrive late are not lost; the answer stays the conflict.
   */
  commit(edits: readonly Edit[]): Promise<Problem | null> {
    if (this.#lock === null) throw new Error("a document opened for reading cannot be written");
    if (edits.length > 0) this.#chat = update(this.#chat, edits);
    this.#writing = this.#writing.then(() => this.#flush());
    return this.#writing;
  }

  /** Waits for the last write and gives the lock back. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writing;
    await this.#lock?.release();
  }

  async #flush(): Promise<Problem | null> {
    if (this.#lost !== null) return await this.#keepAside();
    try {
      while (!sameBytes(this.#disk, this.#chat.bytes)) {
        const foreign = await this.#foreignChange();
        if (foreign !== null && !this.#merge(foreign)) return await this.#conflict();
        if (foreign !== null) continue;
        const text = this.#chat.bytes;
        const stamp = await this.#write(text);
        if (stamp === null) continue;
        this.#disk = text;
        this.#stamp = stamp;
      }
      return null;
    } catch (thrown) {
      if (thrown instanceof Deno.errors.NotFound) return await this.#gone();
      return await this.#failed(thrown);
    }
  }

  /** Their text, when the file is no longer what we read or wrote last; otherwise null. */
  async #foreignChange(): Promise<Uint8Array | null> {
    const stamp = stampOf(await Deno.stat(this.path));
    if (sameStamp(stamp, this.#stamp) && stamp.size > ALWAYS_COMPARE_BYTES) return null;
    const theirs = await Deno.readFile(this.path);
    this.#stamp = stamp;
    return sameBytes(theirs, this.#disk) ? null : theirs;
  }

  #merge(theirs: Uint8Array): boolean {
    const merged = mergeDocuments(this.#disk, this.#chat.bytes, theirs);
    if (merged === null) return false;
    this.#disk = theirs;
    this.#chat = parse(merged);
    this.#options.notify?.({
      code: "document-merged",
      message: `${this.path} was changed by someone else meanwhile; both changes are kept.`,
    });
    return true;
  }

  /** Answers null, with nothing written, when the file changed at the last moment. */
  async #write(text: Uint8Array): Promise<Stamp | null> {
    if (text.length - this.#disk.length <= MAX_APPEND_BYTES && continues(this.#disk, text)) {
      return await appendFile(this.path, this.#stamp, text.subarray(this.#disk.length));
    }
    const { nlink } = await Deno.stat(this.path);
    if (!this.inPlaceWhile() && (nlink ?? 1) <= 1) {
      try {
        return await replaceFile(this.path, text, () => {
          return !this.inPlaceWhile() && sameStamp(stampOf(Deno.statSync(this.path)), this.#stamp);
        });
      } catch (thrown) {
        if (!cannotReplace(thrown)) throw thrown;
      }
    }
    return await this.#overwrite(text);
  }

  async #overwrite(text: Uint8Array): Promise<Stamp> {
    const guard = await OverwriteGuard.for(this.path, this.#options.environment);
    await guard.before(this.#disk, text);
    let stamp: Stamp;
    try {
      stamp = await overwriteFile(this.path, this.#disk, text);
    } catch (thrown) {
      // A full disk may have stopped us half-way; the old text is there and fits. Should even this fail, the
      // guarded copies stay for the next run.
      await overwriteFile(this.path, await Deno.readFile(this.path), this.#disk);
      await guard.after();
      throw thrown;
    }
    await guard.after();
    return stamp;
  }

  #conflict(): Promise<Problem> {
    return this.#lose({
      code: "document-changed",
      message: `${this.path} was changed by someone else in a way that cannot be merged.`,
      saved: (aside) => `The file is as they left it; our text is in ${aside}.`,
      next: (compare) => `Compare the two (${compare}), then run the command again.`,
    });
  }

  #gone(): Promise<Problem> {
    return this.#lose({
      code: "document-changed",
      message: `${this.path} was removed or moved by someone else.`,
      saved: (aside) => `Our text is in ${aside}.`,
      next: () => "Move it to where you want the document, then run the command again.",
    });
  }

  #failed(thrown: unknown): Promise<Problem> {
    return this.#lose({
      code: "write-failed",
      message: `${this.path} cannot be written: ${thrownText(thrown)}.`,
      saved: (aside) => `The whole text is in ${aside}.`,
      next: (compare) => `See what the file lacks (${compare}), and mend what is in the way.`,
    });
  }

  #lose(lost: Lost): Promise<Problem> {
    this.#lost = lost;
    return this.#keepAside();
  }

  /** Saves our text beside the file; an earlier copy of this run is superseded by the new one. */
  async #keepAside(): Promise<Problem> {
    const { code, message, saved, next } = this.#lost!;
    const aside = await saveAside(this.path, this.#chat.bytes, this.#options.environment, this.#aside);
    if ("error" in aside) {
      return { code, message: `${message} Our text could not be saved either: ${aside.error}.` };
    }
    this.#aside = aside.path;
    return {
      code,
      message: `${message} ${saved(aside.path)}`,
      next: next(`diff ${shellWord(this.path)} ${shellWord(aside.path)}`),
    };
  }
}

/** How a file got out of our hands, and what a person is told about it. */
interface Lost {
  readonly code: string;
  readonly message: string;
  /** Where our text is. */
  readonly saved: (aside: string) => string;
  /** What to do; given the command that compares the two. */
  readonly next: (compare: string) => string;
}

/** Refusals of a folder or a mount, not of the file: it may still be writable itself. */
const FOLDER_REFUSALS = new Set(["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV", "ETXTBSY"]);

function cannotReplace(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" &&
    FOLDER_REFUSALS.has(thrown.code);
}
