// Saves the content of files in the state folder before tools change them, so that a person can restore it.
//
// Each change is one file: a line of JSON, then the bytes before and the bytes after. The bytes before are on disk
// before the change is made, so a crash loses nothing; the bytes after are added when the change is complete.

import type { Environment } from "../../base/environment.ts";
import { isMissing, removeIfThere, replaceSmallFile } from "../../base/files.ts";
import { STATE_REMEDY, stateFolder, StateUnwritable } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";
import { isObject } from "../../base/is_object.ts";
import { concat, sameBytes } from "../../base/bytes.ts";
import { parentOf } from "../../base/paths.ts";
import { thrownText } from "../../base/problem.ts";
import { readChecked } from "../../base/system/reading.ts";
import { SizeLedger } from "./size_ledger.ts";
import { documentKey, timestamp } from "../../cycle/storage/state_files.ts";
import type { Emit } from "../../cycle/types.ts";
import type { ReplacedFile } from "../../tools/definition.ts";

/** Identifies the content of a file. */
export interface ContentDigest {
  /** SHA-256, hexadecimal. */
  readonly hash: string;
  /** Size in bytes. */
  readonly size: number;
}

/** A saved change of a file. */
export interface SavedFile {
  /** The file that holds the change. */
  readonly file: string;
  /** Id of the call. */
  readonly call: string;
  readonly tool: string;
  /** Real path of the file that was changed. */
  readonly path: string;
  /** The path as the model wrote it. */
  readonly shownAs: string;
  /** Time of the change, ISO 8601. */
  readonly at: string;
  /** Content before the change; null for a file that the tool created. */
  readonly before: ContentDigest | null;
  /** Content after the change; null if the run ended before the change was complete. */
  readonly after: ContentDigest | null;
  /** Folders that were created with the file, outermost first. */
  readonly made: readonly string[];
  /** True if the change was undone. */
  readonly undone: boolean;
  /** True if the document mentions the undo. An undo that was killed may not have written that. */
  readonly reported: boolean;
}

export interface Changer {
  readonly id: string;
  readonly name: string;
}

/** Name suffixes: of an effective change, of an undone one, and of an undone one that the document reports. */
const KEPT = ".change";
const PUT_BACK = ".put-back";
const UNDONE = ".undone";

const MEGABYTE = 1_000_000;

/** Saves the changes of one document. */
export class SavedFiles {
  readonly #environment: Environment;
  readonly #document: string | null;
  readonly #limit: number;
  readonly #emit: Emit;
  #reported = false;
  #sizes: SizeLedger | undefined;

  /**
   * @param document its real path; null when it is unsaved, and then nothing is saved
   * @param megabytes limit for the saved changes of all documents together
   */
  constructor(environment: Environment, document: string | null, megabytes: number, emit: Emit) {
    this.#environment = environment;
    this.#document = document;
    this.#limit = megabytes * MEGABYTE;
    this.#emit = emit;
  }

  /**
   * Saves the content of a file. Resolves when the copy is durable, with a function to call after the file was
   * changed. A failure is reported, but does not prevent the change.
   */
  async keep(by: Changer, file: ReplacedFile): Promise<() => Promise<void>> {
    const nothing = () => Promise.resolve();
    if (this.#document === null || this.#limit === 0) return nothing;
    try {
      const before = await this.#read(file);
      if (before === undefined) return nothing;
      const change = { by, file, before, made: missingFolders(file.path) };
      const root = rootOf(this.#environment);
      const folder = `${root}/${await documentKey(this.#document)}`;
      const place = `${folder}/${timestamp(new Date())}-${crypto.randomUUID().slice(0, 8)}${KEPT}`;
      await this.#put(root, place, await encode(change, null));
      return () => this.#finish(root, place, change);
    } catch (thrown) {
      this.#failed(file, thrown);
      return nothing;
    }
  }

  /** Adds the new content after the change; removes the record of a change that did not happen. */
  async #finish(root: string, place: string, change: Begun): Promise<void> {
    try {
      const after = await this.#read(change.file);
      const same = after === null || after === undefined
        ? after === change.before
        : change.before !== null && sameBytes(after, change.before);
      // The ledger keeps the size until changes are counted again.
      if (same) await this.#inState(() => removeIfThere(place));
      else if (after !== null && after !== undefined) {
        await this.#put(root, place, await encode(change, after));
      }
    } catch (thrown) {
      this.#failed(change.file, thrown);
    }
  }

  /** Writes or replaces a saved change. First removes old changes if there is too little space. */
  #put(root: string, place: string, bytes: Uint8Array): Promise<void> {
    return this.#inState(async () => {
      await Deno.mkdir(parentOf(place), { recursive: true, mode: 0o700 });
      const total = this.#ledger(root).add(bytes.length - await sizeOf(place));
      if (total === null || total > this.#limit) {
        const left = await makeRoom(root, this.#limit - bytes.length, place);
        this.#ledger(root).begin(left + bytes.length);
      }
      await replaceSmallFile(place, bytes, { durable: true });
    });
  }

  #ledger(root: string): SizeLedger {
    return this.#sizes ??= new SizeLedger(`${root}/${LEDGER}`);
  }

  async #inState(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      throw new StateUnwritable(this.#environment, thrown);
    }
  }

  /** Reports a change that was not saved. A fault of the state folder has the code of all such faults. */
  #failed({ shownAs }: ReplacedFile, thrown: unknown): void {
    const message = `flemma undo cannot restore ${shownAs}, because its content was not saved: ${
      thrownText(thrown)
    }.`;
    if (!(thrown instanceof StateUnwritable)) return this.#tell(message);
    this.#tell(`${message} ${STATE_REMEDY}`, "state-unwritable");
  }

  /** Returns the content of a file; null if it does not exist, undefined if it is not saved. */
  async #read({ path, shownAs }: ReplacedFile): Promise<Uint8Array | null | undefined> {
    let found: Uint8Array | string;
    try {
      found = await readChecked(
        path,
        (real, { isFile, size }) =>
          real !== path || !isFile ? "it is not a file" : size > this.#limit ? TOO_LARGE : null,
      );
    } catch (thrown) {
      if (isMissing(thrown)) return null;
      throw thrown;
    }
    if (typeof found !== "string") return found;
    if (found === TOO_LARGE) {
      const most = `undo.keep is ${this.#limit / MEGABYTE} MB`;
      this.#tell(`${shownAs} is too large to be saved for flemma undo: ${most}.`);
    }
    return undefined;
  }

  /** Reports a problem once in a run, because the reason is usually the same for every file. */
  #tell(message: string, code = "not-kept"): void {
    if (this.#reported) return;
    this.#reported = true;
    this.#emit({ event: "notice", code, message });
  }
}

/** Lists the saved changes of a document, oldest first. */
export async function listSavedFiles(environment: Environment, document: string): Promise<SavedFile[]> {
  const folder = `${rootOf(environment)}/${await documentKey(document)}`;
  const names = (await namesIn(folder)).filter((name) =>
    [KEPT, PUT_BACK, UNDONE].some((end) => name.endsWith(end))
  ).sort();
  const changes: SavedFile[] = [];
  for (const name of names) {
    const file = `${folder}/${name}`;
    const head = await headOf(file);
    if (head !== null) {
      changes.push({ ...head, file, undone: !name.endsWith(KEPT), reported: name.endsWith(UNDONE) });
    }
  }
  return changes;
}

/** Returns the content of the file before and after a saved change. */
export async function readSavedContent(
  change: SavedFile,
): Promise<{ readonly before: Uint8Array | null; readonly after: Uint8Array | null }> {
  const bytes = await Deno.readFile(change.file);
  const from = bytes.indexOf(LF) + 1;
  const middle = from + (change.before?.size ?? 0);
  const before = change.before === null ? null : bytes.subarray(from, middle);
  const after = change.after === null ? null : bytes.subarray(middle, middle + change.after.size);
  return { before, after };
}

/** Marks a change as undone. Its saved content stays. */
export async function markUndone({ file }: SavedFile): Promise<void> {
  await Deno.rename(file, withEnd(file, PUT_BACK));
}

/** Marks an undone change as mentioned in the document. */
export async function markReported({ file }: SavedFile): Promise<void> {
  await Deno.rename(withEnd(file, PUT_BACK), withEnd(file, UNDONE));
}

function withEnd(file: string, end: string): string {
  return `${file.slice(0, file.lastIndexOf("."))}${end}`;
}

export async function describe(bytes: Uint8Array): Promise<ContentDigest> {
  return { hash: await sha256(bytes as Uint8Array<ArrayBuffer>), size: bytes.length };
}

const LF = 0x0a;

function rootOf(environment: Environment): string {
  return `${stateFolder(environment)}/undo`;
}

const TOO_LARGE = "it is too large";

interface Begun {
  readonly by: Changer;
  readonly file: ReplacedFile;
  readonly before: Uint8Array | null;
  readonly made: readonly string[];
}

async function encode({ by, file, before, made }: Begun, after: Uint8Array | null): Promise<Uint8Array> {
  const head = {
    call: by.id,
    tool: by.name,
    ...file,
    at: new Date().toISOString(),
    before: before === null ? null : await describe(before),
    after: after === null ? null : await describe(after),
    made,
  };
  const line = new TextEncoder().encode(`${JSON.stringify(head)}\n`);
  return concat([line, ...[before, after].filter((bytes) => bytes !== null)]);
}

/** Returns the missing folders of a path, outermost first. */
function missingFolders(path: string): string[] {
  const missing: string[] = [];
  for (let folder = parentOf(path); folder !== "/"; folder = parentOf(folder)) {
    try {
      Deno.lstatSync(folder);
      break;
    } catch (thrown) {
      if (!isMissing(thrown)) break;
      missing.unshift(folder);
    }
  }
  return missing;
}

/** Number of bytes within which the JSON line must end; only the paths in it are long. */
const HEAD = 64 * 1024;

/** Reads the JSON line of a change; null if there is no such file, or it is not a saved change. */
async function headOf(file: string): Promise<Omit<SavedFile, "file" | "undone" | "reported"> | null> {
  try {
    using open = await Deno.open(file);
    const buffer = new Uint8Array(HEAD);
    let filled = 0;
    for (let count: number | null = 1; count !== null && count > 0 && filled < HEAD; filled += count ?? 0) {
      count = await open.read(buffer.subarray(filled));
    }
    const end = buffer.subarray(0, filled).indexOf(LF);
    const value: unknown = end < 0 ? null : JSON.parse(new TextDecoder().decode(buffer.subarray(0, end)));
    return isHead(value) ? value : null;
  } catch (thrown) {
    if (isMissing(thrown) || thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

function isHead(value: unknown): value is Omit<SavedFile, "file" | "undone" | "reported"> {
  if (!isObject(value)) return false;
  const texts = [value.call, value.tool, value.path, value.shownAs, value.at];
  return texts.every((text) => typeof text === "string") &&
    [value.before, value.after].every((content) => content === null || isContent(content)) &&
    Array.isArray(value.made);
}

function isContent(value: unknown): value is ContentDigest {
  return isObject(value) && typeof value.hash === "string" && typeof value.size === "number";
}

/** Name of the file with the total size, among the folders of the documents. */
const LEDGER = "size";

async function sizeOf(path: string): Promise<number> {
  return await Deno.stat(path).then((info) => info.size, () => 0);
}

/** Number of saved changes from which more is removed than necessary, so that the next count is not needed soon. */
const MANY = 256;

/**
 * Removes the oldest saved changes of any document, except the file `except`, until at most `bytes` bytes are left; of
 * many changes also some more. Returns the size of what is left, without `except`.
 */
async function makeRoom(root: string, bytes: number, except: string): Promise<number> {
  const files: { readonly path: string; readonly name: string; readonly size: number }[] = [];
  for (const folder of await namesIn(root)) {
    if (folder.startsWith(LEDGER)) continue;
    for (const name of await namesIn(`${root}/${folder}`)) {
      const path = `${root}/${folder}/${name}`;
      if (path === except) continue;
      files.push({ path, name, size: await sizeOf(path) });
    }
  }
  let total = files.reduce((sum, { size }) => sum + size, 0);
  const most = total <= bytes || files.length < MANY ? bytes : bytes - bytes / 16;
  // Names begin with the time, so sorting by name sorts by time.
  for (const { path, size } of files.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (total <= most) break;
    await removeIfThere(path);
    total -= size;
  }
  return total;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  } catch (thrown) {
    if (isMissing(thrown)) return [];
    throw thrown;
  }
}
