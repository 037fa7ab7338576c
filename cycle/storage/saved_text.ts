// Saves the current text of a filter run to disk, so that it can be recovered if the output is lost.

import { closeLocked, isMissing, replaceSmallFile, writeAllSync } from "../../base/files.ts";
import type { Environment } from "../../base/environment.ts";
import { commonPrefix } from "../../base/bytes.ts";
import { stateNotice } from "../../base/folders.ts";
import type { Problem } from "../../base/problem.ts";
import { stateFolder, timestamp } from "./state_files.ts";

/** Maximum number of saved texts; the oldest are removed first. */
const MAX_SAVED = 20;

const SUFFIX = ".chat";

/** A saved text of a filter run. */
export interface SavedEntry {
  /** The id that `flemma recover` takes as argument. */
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  /** Time at which the text was last written. */
  readonly time: Date;
  /** True if the run of the text still continues. */
  readonly running: boolean;
}

function recoverFolder(environment: Environment): string {
  return `${stateFolder(environment)}/recover`;
}

/** The newest text of one filter run. Nothing is written before the first change of the document. */
export class SavedText {
  readonly #environment: Environment;
  readonly #onFault: (problem: Problem) => void;
  #file: Deno.FsFile | null = null;
  #path = "";
  #written: Uint8Array = new Uint8Array(0);
  #failed = false;

  /** `onFault` is called once if the text cannot be saved; the run continues without a saved text. */
  constructor(environment: Environment, onFault: (problem: Problem) => void) {
    this.#environment = environment;
    this.#onFault = onFault;
  }

  /** Saves `text` as the current text. */
  update(text: Uint8Array): void {
    if (this.#failed) return;
    try {
      const file = this.#file ?? this.#open();
      const same = commonPrefix(this.#written, text);
      file.seekSync(same, Deno.SeekMode.Start);
      writeAllSync(file, text.subarray(same));
      if (text.length < this.#written.length) file.truncateSync(text.length);
      this.#written = text;
    } catch (thrown) {
      this.#failed = true;
      const effect = "The text of this run cannot be saved for flemma recover.";
      this.#onFault(stateNotice(this.#environment, thrown, effect));
    }
  }

  /**
   * Ends the run and removes the saved text if the output was delivered. Returns the id of a saved text that remains,
   * or null.
   */
  close(delivered: boolean): string | null {
    const file = this.#file;
    if (file === null) return null;
    this.#file = null;
    try {
      if (delivered) Deno.removeSync(this.#path);
    } catch (thrown) {
      const effect = "The text of this run was delivered, but flemma recover still lists it.";
      this.#onFault(stateNotice(this.#environment, thrown, effect));
    }
    closeLocked(file);
    return delivered || this.#failed ? null : idOf(this.#path);
  }

  #open(): Deno.FsFile {
    const folder = recoverFolder(this.#environment);
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const kept = listSavedTexts(this.#environment).filter(({ id, running }) =>
      !running && !id.startsWith(KEPT)
    );
    for (const { path } of kept.slice(MAX_SAVED - 1)) Deno.removeSync(path);
    this.#path = `${folder}/${timestamp(new Date())}-${crypto.randomUUID().slice(0, 4)}${SUFFIX}`;
    const file = Deno.openSync(this.#path, { createNew: true, read: true, write: true, mode: 0o600 });
    // A process that lists the saved texts can have the lock for a moment. The system releases the lock when this
    // process ends, however it ends.
    file.lockSync(true);
    return this.#file = file;
  }
}

/** Prefix of the ids of texts that are kept until the person removes them. */
const KEPT = "batch-";

/**
 * Saves a text for `flemma recover` until the person removes it.
 *
 * @param id its id, which begins with `batch-`; an earlier text with this id is replaced
 */
export async function keepText(environment: Environment, id: string, text: Uint8Array): Promise<void> {
  const folder = recoverFolder(environment);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceSmallFile(`${folder}/${id}${SUFFIX}`, text, { durable: true });
}

/** Returns all saved texts, newest first. */
export function listSavedTexts(environment: Environment): SavedEntry[] {
  const folder = recoverFolder(environment);
  let names: string[];
  try {
    names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(SUFFIX));
  } catch (thrown) {
    if (isMissing(thrown)) return [];
    throw thrown;
  }
  return names.flatMap((name) => readSaved(`${folder}/${name}`))
    .sort((a, b) => b.time.getTime() - a.time.getTime() || (a.id < b.id ? 1 : -1));
}

/** Returns the saved text at a path; empty if its run has just ended and removed it. */
function readSaved(path: string): SavedEntry[] {
  try {
    using file = Deno.openSync(path, { read: true, write: true });
    const { size, mtime } = file.statSync();
    const id = idOf(path);
    // The lock is shared, so that two processes that check at the same time do not each see the other as a run. A kept
    // text has no run; a process being started may have the lock of its temporary file.
    const running = !id.startsWith(KEPT) && !file.tryLockSync(false);
    return [{ id, path, bytes: size, time: mtime ?? new Date(0), running }];
  } catch (thrown) {
    if (isMissing(thrown)) return [];
    throw thrown;
  }
}

function idOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1, -SUFFIX.length);
}
