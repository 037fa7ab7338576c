// Undoes changes that tools made to files, if nobody else has changed the files since.

import type { Environment } from "../../base/environment.ts";
import { sameBytes } from "../../base/bytes.ts";
import { removeIfThere } from "../../base/files.ts";
import { readRegular } from "../../base/system/regular_file.ts";
import { takePlace } from "../../base/system/take_place.ts";
import { baseName, parentOf } from "../../base/paths.ts";
import { stateNotice } from "../../base/folders.ts";
import { type Problem, thrownText } from "../../base/problem.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { replaceFile, type Snapshot, snapshotOrNone } from "../../tools/files/replace.ts";
import { lockForWriting, temporaryIn, type WriteLock } from "../../tools/builtin/write_lock.ts";
export { listSavedFiles, markReported, type SavedFile };
import {
  type ContentDigest,
  describe,
  listSavedFiles,
  markReported,
  markUndone,
  readSavedContent,
  type SavedFile,
} from "./saved_files.ts";
import { changedLines, planUndo } from "./undo_plan.ts";

/** One change, and what was done to it or would be done. */
export interface Undone {
  readonly change: SavedFile;
  /**
   * `put-back`: the file again has its earlier content; `already`: it already had that content; `kept`: nothing was
   * done, for the reason in `why`.
   */
  readonly outcome: "put-back" | "already" | "kept";
  /** A full sentence without its period; empty unless the outcome is `kept`. */
  readonly why: string;
}

export interface UndoRequest {
  readonly environment: Environment;
  /** Real path of the document. */
  readonly document: string;
  meant(change: SavedFile): boolean;
  /** True to only report what would be done. */
  readonly dryRun: boolean;
  /** Receives the problem if an undo cannot be recorded. */
  readonly report?: (problem: Problem) => void;
  /** Called right before each change is undone, for tests. */
  readonly between?: () => Promise<void>;
}

/** Undoes the selected changes, newest first. */
export async function undoChanges(request: UndoRequest): Promise<Undone[]> {
  const kept = (await listSavedFiles(request.environment, request.document)).filter(({ undone }) => !undone);
  const meant = new Set(kept.filter(request.meant));
  const steps = planUndo(kept, meant, await holdingOf([...meant]));
  const outcomes: Undone[] = [];
  for (const { change, fate } of steps) {
    switch (fate.kind) {
      case "already":
        if (!request.dryRun) await notedAgain(change, request);
        outcomes.push({ change, outcome: "already", why: "" });
        break;
      case "covered": {
        const { call, tool } = fate.by;
        const why = `${tool} changed it again in ${call}, which must be undone first`;
        outcomes.push({ change, outcome: "kept", why });
        break;
      }
      case "unknown": {
        const why =
          `the run ended during the change; the old content is in ${change.file}, below the first line`;
        outcomes.push({ change, outcome: "kept", why });
        break;
      }
      case "changed":
        outcomes.push({ change, outcome: "kept", why: await whyChanged(change) });
        break;
      case "put-back": {
        const why = request.dryRun ? null : await putBack(change, request);
        outcomes.push({ change, outcome: why === null ? "put-back" : "kept", why: why ?? "" });
      }
    }
  }
  return outcomes;
}

async function holdingOf(changes: readonly SavedFile[]): Promise<Map<string, ContentDigest | null>> {
  const holding = new Map<string, ContentDigest | null>();
  for (const { path } of changes) {
    if (holding.has(path)) continue;
    const bytes = bytesOf(path);
    holding.set(path, bytes === null ? null : await describe(bytes));
  }
  return holding;
}

/** Returns the bytes at the exact path of a change; null for anything but a regular file. */
function bytesOf(path: string): Uint8Array | null {
  // A symbolic link on the path leads to a file other than the changed one.
  if (realPath(path, "/") !== path) return null;
  try {
    return snapshotOrNone(path, path)?.bytes ?? null;
  } catch {
    // The path is a folder, a device or inaccessible. In any case it is not the tool's file.
    return null;
  }
}

async function whyChanged(change: SavedFile): Promise<string> {
  const now = bytesOf(change.path);
  return changedLines((await readSavedContent(change)).after ?? new Uint8Array(), now);
}

/** Undoes one change under the lock of its file; null on success, else the reason for the failure. */
async function putBack(change: SavedFile, request: UndoRequest): Promise<string | null> {
  const { environment, between } = request;
  const { path, before } = change;
  const content = await readSavedContent(change);
  const after = content.after ?? new Uint8Array();
  const lock = await lockForWriting(path, environment, new AbortController().signal);
  try {
    if (realPath(path, "/") !== path) return "another folder or file is in its place now";
    const since = snapshotOrNone(path, path);
    if (since === null || !sameBytes(since.bytes, after)) {
      return changedLines(after, since?.bytes ?? null);
    }
    await between?.();
    if (before === null) await takeAway(path, since, lock);
    else {
      const temporary = temporaryIn(parentOf(path));
      lock.note(temporary);
      await replaceFile(path, content.before!, {
        shownAs: path,
        since,
        temporary: baseName(temporary),
      });
    }
  } catch (thrown) {
    return `it could not be restored: ${thrownText(thrown)}`;
  } finally {
    lock.release();
  }
  await noted(change, request);
  return null;
}

/**
 * Completes the undo of a file that already has its old content, for instance after a killed undo. Taking the lock
 * also removes leftovers of that undo.
 */
async function notedAgain(change: SavedFile, request: UndoRequest): Promise<void> {
  const lock = await lockForWriting(change.path, request.environment, new AbortController().signal);
  lock.release();
  await noted(change, request);
}

/** Finishes the undo after the file has its old content again. */
async function noted(change: SavedFile, { environment, report }: UndoRequest): Promise<void> {
  if (change.before === null) await removeEmpty(change.made);
  try {
    await markUndone(change);
  } catch (thrown) {
    const effect = `${change.shownAs} was restored, but flemma undo --list still shows its change.`;
    report?.(stateNotice(environment, thrown, effect));
  }
}

/** Removes a file if it is unchanged. If somebody saved a new version meanwhile, it moves that version back. */
async function takeAway(path: string, since: Snapshot, lock: WriteLock): Promise<void> {
  const aside = temporaryIn(parentOf(path));
  await Deno.rename(path, aside);
  if (sameBytes(await readRegular(aside), since.bytes)) {
    // From here on, the file contains no text that anybody needs.
    lock.note(aside);
    await removeIfThere(aside);
    return;
  }
  if (takePlace(aside, path, null)) throw new Error("it was changed in the meantime");
  throw new Error(`it was changed in the meantime; that version is now ${aside}`);
}

/** Removes folders created with a file, innermost first, as long as they are empty. */
async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) {
    try {
      await Deno.remove(folder);
    } catch {
      // The folder is not empty, or no longer exists.
      return;
    }
  }
}
