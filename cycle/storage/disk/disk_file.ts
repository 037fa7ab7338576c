// The file of a document as this run knows it: its content, changes by other writers, and ways to write it.

import { sameBytes } from "../../../base/bytes.ts";
import { type Content, contentFromBytes } from "./content.ts";
import type { Environment } from "../../../base/environment.ts";
import { isMissing, readOrNull, removeIfThere } from "../../../base/files.ts";
import { stateNotice } from "../../../base/folders.ts";
import type { Problem } from "../../../base/problem.ts";
import { readAllSync, readRegularSync } from "../../../base/system/regular_file.ts";
import { readSettled } from "../../../base/system/settled.ts";
import { identityOf, sameStamp, type Stamp, stampOf } from "../read.ts";
import type { FileIdentity } from "../../types.ts";
import { extensionOf, type GrownText } from "./extension.ts";
import { withoutOurEnd } from "./overlap.ts";
import { isTorn, OverwriteGuard, saveAside } from "./rescue.ts";
import {
  ALWAYS_COMPARE_BYTES,
  extendFile,
  type KnownFile,
  overwriteFile,
  replaceDocumentFile,
  type WriteOptions,
} from "./write.ts";

/**
 * Maximum number of replaced files that are still checked, because an editor may have opened a file before it was
 * replaced.
 */
const MAX_REPLACED = 4;

/** A text that another writer wrote. */
export interface Foreign {
  readonly text: Uint8Array;
  /** Everything in the file: the text, and the end of ours that a write at the same moment may have left behind it. */
  readonly found: Uint8Array;
  /** True if the text was written into a file that had already been replaced; the file at the path is then ours. */
  readonly astray: boolean;
  /** The file that contained the text when it was read. */
  readonly file: FileIdentity;
}

const UNGUARDED = "The document is written, but a crash during the write would leave a partial text.";

interface ReplacedFile {
  readonly file: Deno.FsFile;
  readonly known: KnownFile;
}

export class DiskFile {
  readonly path: string;
  readonly #environment: Environment;
  readonly #between: WriteOptions["between"];
  readonly #notify: (notice: Problem) => void;
  #known: KnownFile;
  /** The text of a write that did not end with this text in the file; null if the last write did. */
  #attempted: Content | null = null;
  readonly #replaced: ReplacedFile[] = [];
  /** See `FileStore.inPlaceWhile`. */
  inPlaceWhile: () => boolean = () => false;

  constructor(
    path: string,
    known: KnownFile,
    options: {
      readonly environment: Environment;
      readonly between?: WriteOptions["between"];
      readonly notify?: (notice: Problem) => void;
    },
  ) {
    this.path = path;
    this.#known = known;
    this.#environment = options.environment;
    this.#between = options.between;
    this.#notify = options.notify ?? (() => {});
  }

  /** The last known content of the file. */
  get content(): Content {
    return this.#known.content;
  }

  /**
   * Returns what another writer wrote since the last read or write; null if nothing. `patient` waits longer for the
   * writer to finish. Throws NotFound if the file is gone.
   */
  async foreign(options: { readonly patient?: boolean } = {}): Promise<Foreign | null> {
    const astray = await this.#astray();
    if (astray !== null) return astray;
    const { path } = this;
    const before = statOrNull(path);
    if (before !== null && isUntouched(before, this.#known)) return null;
    const { content } = this.#known;
    const found = before === null ? null : await readOrNull(path);
    if (found !== null && sameBytes(found, content.bytes)) {
      this.#known = { content, stamp: stampOf(before!) };
      return null;
    }
    let last: Pick<Foreign, "found" | "file"> | null = null;
    const read = () => Promise.resolve((last = readIdentified(path))?.found ?? null);
    const text = await readSettled(read, content.bytes, options);
    if (text === null || last === null) throw new Deno.errors.NotFound(`${path} no longer exists`);
    if (sameBytes(text, content.bytes)) return null;
    return { ...(last as Pick<Foreign, "found" | "file">), text: this.#withoutOurEnd(text), astray: false };
  }

  #withoutOurEnd(found: Uint8Array): Uint8Array {
    if (this.#attempted === null) return found;
    return withoutOurEnd(found, { old: this.content.bytes, ours: this.#attempted.bytes });
  }

  /** True if files were replaced that another process may still have open. */
  get hasReplaced(): boolean {
    return this.#replaced.length > 0;
  }

  /** Accepts what another writer left in the file as its content. */
  take({ found }: Foreign): void {
    this.#attempted = null;
    this.#known = { ...this.#known, content: contentFromBytes(found) };
  }

  /**
   * Writes a text, right after `foreign` found nothing; false if the file is not the known one. `grown` is the only
   * text that is new, if given. Throws the system's errors.
   */
  async write(content: Content, grown?: GrownText): Promise<boolean> {
    try {
      return await this.#write(content, grown);
    } catch (thrown) {
      // An editor may be about to recreate the file. `foreign` waits for that, and throws if the file stays missing.
      if (thrown instanceof Deno.errors.NotFound) return false;
      throw thrown;
    }
  }

  async #write(content: Content, grown: GrownText | undefined): Promise<boolean> {
    const steps = extensionOf(this.content, content, grown);
    const stamp = steps !== null
      ? await extendFile(this.path, this.#known, content, steps, { between: this.#between })
      : await this.#replaceOrOverwrite(content);
    this.#attempted = stamp === null ? content : null;
    if (stamp === null) return false;
    this.#known = { content, stamp };
    return true;
  }

  close(): void {
    for (const { file } of this.#replaced.splice(0)) file.close();
  }

  async #replaceOrOverwrite(content: Content): Promise<Stamp | null> {
    const { nlink } = Deno.statSync(this.path);
    if (this.inPlaceWhile() || (nlink ?? 1) > 1) return await this.#overwrite(content.bytes);
    const known = this.#known;
    try {
      const replaced = await replaceDocumentFile(this.path, content, known, {
        mayReplace: () => !this.inPlaceWhile(),
        between: this.#between,
      });
      if (replaced === null) return null;
      const { old, oldStamp } = replaced;
      this.#replaced.push({ file: old, known: { content: known.content, stamp: oldStamp } });
      if (this.#replaced.length > MAX_REPLACED) this.#replaced.shift()!.file.close();
      return replaced.stamp;
    } catch (thrown) {
      if (!cannotReplace(thrown)) throw thrown;
      return await this.#overwrite(content.bytes);
    }
  }

  async #overwrite(text: Uint8Array): Promise<Stamp | null> {
    const known = this.#known;
    const guard = await this.#guardFor(known.content.bytes, text);
    let stamp: Stamp | null;
    try {
      stamp = await overwriteFile(this.path, known, text, { between: this.#between });
    } catch (thrown) {
      // If the old text could not be restored, the guarded copies stay for the next run.
      const there = await readOrNull(this.path);
      const old = known.content.bytes;
      if (there === null || sameBytes(there, old) || !isTorn(there, old, text)) await guard.after();
      throw thrown;
    }
    await guard.after();
    return stamp;
  }

  /**
   * Saves both texts, so that the write can be completed after a crash. If the state folder cannot be written, saves
   * the new text next to the document until the write is done; the write itself continues.
   */
  async #guardFor(old: Uint8Array, text: Uint8Array): Promise<{ after(): Promise<void> }> {
    const failed = (thrown: unknown) => this.#notify(stateNotice(this.#environment, thrown, UNGUARDED));
    const guard = await OverwriteGuard.for(this.path, this.#environment);
    try {
      await guard.before(old, text);
      return { after: () => guard.after().catch(failed) };
    } catch (thrown) {
      failed(thrown);
      const aside = await saveAside(this.path, text, this.#environment, null);
      return {
        after: async () => "path" in aside ? await removeIfThere(aside.path).catch(failed) : undefined,
      };
    }
  }

  /**
   * Returns a text that another process wrote into an old file after this run had replaced that file. Does not check
   * that file again.
   */
  async #astray(): Promise<Foreign | null> {
    for (const [index, { file, known }] of this.#replaced.entries()) {
      if (isUntouched(file.statSync(), known)) continue;
      const text = known.content.bytes;
      if (sameBytes(readAllSync(file), text)) continue;
      const found = await readSettled(() => Promise.resolve(readAllSync(file)), text);
      const identity = identityOf(file.statSync());
      this.#replaced.splice(index, 1);
      file.close();
      // The file was opened and truncated, but never written: an interrupted save.
      if (found !== null && !sameBytes(found, text.subarray(0, found.length))) {
        return { text: found, found, file: identity, astray: true };
      }
    }
    return null;
  }
}

/** The text at a path, with the identity of the very file that was read; null if there is none. */
function readIdentified(path: string): Pick<Foreign, "found" | "file"> | null {
  try {
    const { bytes, info } = readRegularSync(path);
    return { file: identityOf(info), found: bytes };
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

function statOrNull(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

/** True if size and stamp of a large file are unchanged. Smaller files are always read, since times are coarse. */
function isUntouched(file: Deno.FileInfo, { content, stamp }: KnownFile): boolean {
  return file.size > ALWAYS_COMPARE_BYTES && file.size === content.byteLength &&
    sameStamp(stampOf(file), stamp);
}

/** Errors caused by a folder or a mount, not by the file: the file itself may still be writable. */
const FOLDER_REFUSALS = new Set(["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV", "ETXTBSY"]);

function cannotReplace(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" &&
    FOLDER_REFUSALS.has(thrown.code);
}
