// Changes of write and edit: from a file's content to its new content.

import { readSettled, STILL_UNFINISHED } from "../../base/system/settled.ts";
import { sha256 } from "../../base/hash.ts";
import { baseName, parentOf } from "../../base/paths.ts";
import { DAMAGED, faultyText, textFault, wideEncoding } from "../../base/text/text_fault.ts";
import type { SeenFile } from "../definition.ts";
import { truncateLine } from "../truncate.ts";
import { FileFailure, type PackedError, packError } from "../../base/disk/failures.ts";
import type { Disk } from "../../base/disk/folder_access.ts";
import { replaceFile, type Snapshot, snapshotOrNone, takeSnapshot } from "./replace.ts";
import { cannotEdit, cannotWrite, printAsUtf8 } from "./text/encoding.ts";
import { nearPassage } from "./text/mismatch.ts";
import { findNearestLine, replacePassage } from "./text/passage.ts";

/** The file to change; tools may write it. */
export interface ChangeTarget {
  readonly real: string;
  /** The path as the model wrote it. */
  readonly shown: string;
  /** Name of a temporary file next to the file; null if no temporary file may be created there. */
  readonly temporary: string | null;
  /** Hash of the file when a call of the document last saw it; null if none did. */
  readonly seen: string | null;
}

/** Result of a change. */
export interface Changed {
  /** If the file was changed, a note about it; otherwise the reason why nothing was done. */
  readonly text: string;
  /** State of the file now; null if nothing was done, or if the file is too large to remember. */
  readonly now: SeenFile | null;
  /** True if the file was changed. */
  readonly done: boolean;
}

/** Called at the point from which on the work must not be interrupted. */
export type Overwriting = () => void;

/** Replaces invalid bytes wherever they are shown. */
const REPLACEMENT = "\ufffd";

/** Maximum size in bytes of files whose state is remembered; writes to larger files are not checked against it. */
export const MOST_SEEN = 32 * 1024 * 1024;

/** Creates a file, or replaces its content. */
export async function writeContent(
  { content, ...target }: ChangeTarget & { readonly content: string },
  disk: Disk,
  overwriting: Overwriting,
): Promise<Changed> {
  const { shown } = target;
  const since = snapshotOrNone(target.real, shown, disk);
  if (await isOther(since, target)) {
    throw new FileFailure(
      `${shown} changed after it was read in this conversation, so it was not written. Read it again first.`,
    );
  }
  const wide = since === null ? null : wideEncoding(since.bytes);
  if (wide !== null) throw new FileFailure(cannotWrite(shown, wide));
  if (since !== null && content.includes(REPLACEMENT) && textFault(since.bytes) !== null) {
    throw new FileFailure(
      `${shown} contains bytes that are not UTF-8; read shows them as ${REPLACEMENT}, and writing would lose them. ` +
        "Use edit, or convert the file first.",
    );
  }
  const bytes = new TextEncoder().encode(content);
  const text = since === null ? "" : conversionOf(since.bytes, content);
  return { done: true, text, now: await put(bytes, since, target, disk, overwriting) };
}

/** Returns what writing changes about the encoding of a file, as a sentence after a blank; empty if nothing. */
function conversionOf(before: Uint8Array, content: string): string {
  if (hasMark(before) && !content.startsWith("\ufeff")) {
    return " The file began with a byte order mark (EF BB BF), which the new content does not have.";
  }
  const encoding = NON_ASCII.test(content) ? narrowEncodingOf(before) : null;
  return encoding === null ? "" : ` It was not UTF-8 before (perhaps ${encoding}), and is UTF-8 now.`;
}

function hasMark([first, second, third]: Uint8Array): boolean {
  return first === 0xef && second === 0xbb && third === 0xbf;
}

// deno-lint-ignore no-control-regex -- ASCII is the same in every encoding that a file of bytes may have
const NON_ASCII = /[^\x00-\x7f]/;

/** Returns the probable one-byte encoding of a file; null if it is UTF-8, apart from damaged bytes, or not text. */
function narrowEncodingOf(bytes: Uint8Array): string | null {
  const fault = textFault(bytes);
  const readAs = fault === null ? null : faultyText(bytes, fault)?.readAs ?? null;
  return readAs === DAMAGED ? null : readAs;
}

export interface Passage {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

/** Replaces a passage of a file; `unreadable` says why the file could not be read. */
export async function replaceText(
  { oldText, newText, all, ...target }: ChangeTarget & Passage,
  disk: Disk,
  overwriting: Overwriting,
): Promise<Changed | { readonly unreadable: PackedError }> {
  const { shown } = target;
  let before: Snapshot;
  try {
    before = await restingSnapshot(target, disk);
  } catch (thrown) {
    return { unreadable: packError(thrown) };
  }
  const wide = wideEncoding(before.bytes);
  if (wide !== null) return nothing(cannotEdit(shown, wide));
  const replaced = replacePassage(before.bytes, oldText, newText, { all });
  if (replaced.kind === "absent") return nothing(absentSentence(shown, before.bytes, oldText));
  if (replaced.kind === "ambiguous") {
    return nothing(
      `oldText occurs ${replaced.count} times in ${shown}. Add surrounding lines until it occurs once.`,
    );
  }
  if (replaced.kind === "unchanged") {
    return nothing(`The edit changes nothing in ${shown}: the replacement is identical.`);
  }
  const changed = await isOther(before, target);
  const now = await put(replaced.bytes, before, target, disk, overwriting);
  const times = all ? ` (${replaced.count} occurrence${replaced.count === 1 ? "" : "s"})` : "";
  const lineEnds = replaced.convertedLineEnds
    ? " The file uses CRLF line endings; the texts were converted to match."
    : "";
  const since = changed ? " The file had changed since it was last read in this conversation." : "";
  const mixed = NON_ASCII.test(newText) ? mixtureOf(before.bytes) : "";
  return { done: true, text: `Edited ${shown}${times}.${lineEnds}${since}${mixed}`, now };
}

/** Returns what to know about new text in a file that is not UTF-8, as a sentence after a blank; empty if it is. */
function mixtureOf(before: Uint8Array): string {
  if (textFault(before) === null) return "";
  const encoding = narrowEncodingOf(before);
  return ` The file is not entirely UTF-8${
    encoding === null ? "" : ` (perhaps ${encoding})`
  }; the new text was written as UTF-8.`;
}

function nothing(text: string): Changed {
  return { done: false, text, now: null };
}

/** True if a call has seen the file, and its content has changed since then. */
async function isOther(now: Snapshot | null, { seen }: ChangeTarget): Promise<boolean> {
  if (now === null || seen === null || now.bytes.length > MOST_SEEN) return false;
  return await sha256(now.bytes) !== seen;
}

/**
 * Returns the content of a file once nobody seems to be saving it. An editor may save in pieces. A change between two
 * pieces would keep only half of the person's text, and the editor would write the other half to a file that has
 * left the path. There is no wait if the last change is flemma's own, or is older than the longest pause between
 * pieces.
 */
async function restingSnapshot(target: ChangeTarget, disk: Disk): Promise<Snapshot> {
  const { real, shown } = target;
  const first = takeSnapshot(real, shown, disk);
  const age = Date.now() - (first.info.mtime?.getTime() ?? 0);
  if (age >= STILL_UNFINISHED || !await isOther(first, target)) return first;
  const read = () => Promise.resolve(snapshotOrNone(real, shown, disk)?.bytes ?? null);
  await readSettled(read, first.bytes, { patient: true });
  return takeSnapshot(real, shown, disk);
}

async function put(
  bytes: Uint8Array<ArrayBuffer>,
  since: Snapshot | null,
  { real, shown, temporary }: ChangeTarget,
  disk: Disk,
  overwriting: Overwriting,
): Promise<SeenFile | null> {
  await replaceFile(real, bytes, { shownAs: shown, since, temporary, overwriting }, disk);
  if (bytes.length > MOST_SEEN) return null;
  const hash = await sha256(bytes);
  try {
    const { mtime } = disk.folderAccess.within(parentOf(real), (at) => Deno.lstatSync(at(baseName(real))));
    return { hash, size: bytes.length, mtime: mtime?.getTime() ?? 0 };
  } catch {
    return null; // The file was written, and another process has removed it since.
  }
}

/**
 * If a passage is not found, a similar one is searched for the error message, in files of at most this size in bytes.
 */
const MOST_COMPARED = 4 * 1024 * 1024;

function absentSentence(path: string, bytes: Uint8Array, oldText: string): string {
  const encoding = NON_ASCII.test(oldText) ? narrowEncodingOf(bytes) : null;
  const sentence = `oldText was not found in ${path}.`;
  if (encoding !== null) {
    return `${sentence} The file is not UTF-8 (perhaps ${encoding}), so only ASCII characters can match. ` +
      `To see its text: ${printAsUtf8(path, encoding)}`;
  }
  const similar = bytes.length > MOST_COMPARED ? null : nearPassage(new TextDecoder().decode(bytes), oldText);
  if (similar !== null) {
    return `${sentence} Line ${similar.line} has it ${similar.words}. Copy it from there byte for byte.`;
  }
  const near = findNearestLine(bytes, oldText);
  if (near === null) return `${sentence} Read the file and copy the text exactly.`;
  return `${sentence} Its first line occurs at line ${near.number}: ${truncateLine(near.text)}`;
}
