// What write and edit do to a file, from its content to its new content (tools 8.3, 8.4).

import { settled, STILL_UNFINISHED } from "../../base/system/settled.ts";
import { sha256 } from "../../base/hash.ts";
import { nameOf, parentOf } from "../../base/paths.ts";
import { textFault } from "../../base/text/text_fault.ts";
import type { SeenFile } from "../definition.ts";
import { truncateLine } from "../truncate.ts";
import { FileFailure, type PackedError, packError } from "../../base/disk/failures.ts";
import type { Disk } from "../../base/disk/folder_access.ts";
import { replaceFile, type Snapshot, snapshotOrNone, takeSnapshot } from "./replace.ts";
import { nearPassage } from "./text/mismatch.ts";
import { findNearestLine, replacePassage } from "./text/passage.ts";

/** The file of a change, which tools may write. */
export interface Target {
  readonly real: string;
  /** How the model wrote the path. */
  readonly shown: string;
  /** Name for a temporary file beside it; null where none may stand there. */
  readonly temporary: string | null;
  /** Hash of what the calls of the document last saw of it; null when they never did. */
  readonly seen: string | null;
}

/** What came of a change. */
export interface Changed {
  /** What has to be said beyond that it was done; or why nothing was. */
  readonly text: string;
  /** What the file holds now; null where nothing was done, or where it is too large to be remembered. */
  readonly now: SeenFile | null;
  /** Whether the file was changed. */
  readonly done: boolean;
}

/** Told that from now on the work must not be ended in the middle. */
export type Overwriting = () => void;

/** What stands for bytes that are no text, wherever they are shown. */
const REPLACEMENT = "\ufffd";

/** Larger files are not remembered: what is written over them is not checked either. */
export const MOST_SEEN = 32 * 1024 * 1024;

/** Makes a file, or replaces its content. */
export async function writeContent(
  { content, ...target }: Target & { readonly content: string },
  disk: Disk,
  overwriting: Overwriting,
): Promise<Changed> {
  const { shown } = target;
  const since = snapshotOrNone(target.real, shown, disk);
  if (await isOther(since, target)) {
    throw new FileFailure(
      `${shown} was changed since it was read here, so it was not written. Read it again first.`,
    );
  }
  if (since !== null && content.includes(REPLACEMENT) && textFault(since.bytes) !== null) {
    throw new FileFailure(
      `${shown} holds bytes that are not UTF-8, which read shows as ${REPLACEMENT}; written back, they would be lost. ` +
        "Change it with edit, or convert it first.",
    );
  }
  const bytes = new TextEncoder().encode(content);
  return { done: true, text: "", now: await put(bytes, since, target, disk, overwriting) };
}

/** A passage and what takes its place. */
export interface Passage {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

/** Replaces a passage of a file; `unreadable` is what kept it from being read. */
export async function replaceText(
  { oldText, newText, all, ...target }: Target & Passage,
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
  const replaced = replacePassage(before.bytes, oldText, newText, { all });
  if (replaced.kind === "absent") return nothing(absentSentence(shown, before.bytes, oldText));
  if (replaced.kind === "ambiguous") {
    return nothing(
      `The old text was found ${replaced.count} times in ${shown}. Add lines around it until it is found once.`,
    );
  }
  if (replaced.kind === "unchanged") return nothing(`The edit changes nothing in ${shown}.`);
  const changed = await isOther(before, target);
  const now = await put(replaced.bytes, before, target, disk, overwriting);
  const times = all ? ` (${replaced.count} occurrence${replaced.count === 1 ? "" : "s"})` : "";
  const lineEnds = replaced.convertedLineEnds
    ? " The file ends its lines with CR LF; the texts were converted to that."
    : "";
  const since = changed ? " The file had been changed by someone else since it was read here." : "";
  // deno-lint-ignore no-control-regex -- ASCII is the same in every encoding that a file of bytes may have
  const mixed = /[^\x00-\x7f]/.test(newText) && textFault(before.bytes) !== null
    ? " The file is not UTF-8 throughout; the new text was written as UTF-8."
    : "";
  return { done: true, text: `Edited ${shown}${times}.${lineEnds}${since}${mixed}`, now };
}

function nothing(text: string): Changed {
  return { done: false, text, now: null };
}

/** Whether a file that calls have seen holds something else now. */
async function isOther(now: Snapshot | null, { seen }: Target): Promise<boolean> {
  if (now === null || seen === null || now.bytes.length > MOST_SEEN) return false;
  return await sha256(now.bytes) !== seen;
}

/**
 * The content of a file once nobody seems to be saving it. Editors may write a file in pieces, and what was changed in
 * between would be half of what the person saves, whose other half then goes into a file that no path leads to. A change that
 * is ours, or older than a pause between two pieces, is not waited for.
 */
async function restingSnapshot(target: Target, disk: Disk): Promise<Snapshot> {
  const { real, shown } = target;
  const first = takeSnapshot(real, shown, disk);
  const age = Date.now() - (first.info.mtime?.getTime() ?? 0);
  if (age >= STILL_UNFINISHED || !await isOther(first, target)) return first;
  const read = () => Promise.resolve(snapshotOrNone(real, shown, disk)?.bytes ?? null);
  await settled(read, first.bytes, { patient: true });
  return takeSnapshot(real, shown, disk);
}

async function put(
  bytes: Uint8Array<ArrayBuffer>,
  since: Snapshot | null,
  { real, shown, temporary }: Target,
  disk: Disk,
  overwriting: Overwriting,
): Promise<SeenFile | null> {
  await replaceFile(real, bytes, { shownAs: shown, since, temporary, overwriting }, disk);
  if (bytes.length > MOST_SEEN) return null;
  const hash = await sha256(bytes);
  try {
    const { mtime } = disk.folderAccess.within(parentOf(real), (at) => Deno.lstatSync(at(nameOf(real))));
    return { hash, size: bytes.length, mtime: mtime?.getTime() ?? 0 };
  } catch {
    return null; // It was written, and somebody took it away since.
  }
}

/** Larger files are not looked through for what only looks the same. */
const MOST_COMPARED = 4 * 1024 * 1024;

function absentSentence(path: string, bytes: Uint8Array, oldText: string): string {
  const sentence = `The old text was not found in ${path}.`;
  const similar = bytes.length > MOST_COMPARED ? null : nearPassage(new TextDecoder().decode(bytes), oldText);
  if (similar !== null) {
    return `${sentence} It stands in line ${similar.line}, ${similar.words}; write it as it is there, byte for byte.`;
  }
  const near = findNearestLine(bytes, oldText);
  if (near === null) return `${sentence} Read the file and copy the passage exactly.`;
  return `${sentence} Its first line occurs in line ${near.number}: ${truncateLine(near.text)}`;
}
