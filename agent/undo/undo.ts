// Puts back what tools did to files, where nobody else changed them since.

import type { Environment } from "../../base/environment.ts";
import { sameBytes } from "../../base/bytes.ts";
import { removeIfThere } from "../../base/files.ts";
import { takePlace } from "../../base/system/take_place.ts";
import { nameOf, parentOf } from "../../base/paths.ts";
import { thrownText } from "../../base/problem.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { replaceFile, type Snapshot, snapshotOrNone } from "../../tools/files/replace.ts";
import { lockForWriting, temporaryIn, type WriteLock } from "../../tools/builtin/write_lock.ts";
export { listSavedFiles, markReported, type SavedFile };
import {
  type Content,
  contentOf,
  describe,
  listSavedFiles,
  markReported,
  markUndone,
  type SavedFile,
} from "./saved_files.ts";
import { changedLines, planUndo } from "./undo_plan.ts";

/** One change with what became of it, or would. */
export interface Undone {
  readonly change: SavedFile;
  /**
   * `put-back`: the file holds again what it held before; `already`: it did; `kept`: nothing was done, `why` says for what
   * reason.
   */
  readonly outcome: "put-back" | "already" | "kept";
  /** A full sentence without a full stop at its end; empty unless the outcome is `kept`. */
  readonly why: string;
}

/** What is to be put back. */
export interface UndoRequest {
  readonly environment: Environment;
  /** Real path of the document. */
  readonly document: string;
  /** Whether a change is meant. */
  meant(change: SavedFile): boolean;
  /** Only say what would be done. */
  readonly dryRun: boolean;
  /** Called right before each change is put back, for tests. */
  readonly between?: () => Promise<void>;
}

/** Puts the changes that are meant back, the newest first. */
export async function undoChanges(request: UndoRequest): Promise<Undone[]> {
  const kept = (await listSavedFiles(request.environment, request.document)).filter(({ undone }) => !undone);
  const meant = new Set(kept.filter(request.meant));
  const steps = planUndo(kept, meant, await holdingOf([...meant]));
  const outcomes: Undone[] = [];
  for (const { change, fate } of steps) {
    switch (fate.kind) {
      case "already":
        if (!request.dryRun) await notedAgain(change, request.environment);
        outcomes.push({ change, outcome: "already", why: "" });
        break;
      case "covered": {
        const { call, tool } = fate.by;
        const why = `${tool} changed it again in ${call}, which has to be put back first`;
        outcomes.push({ change, outcome: "kept", why });
        break;
      }
      case "unknown": {
        const why =
          `the run ended in the middle of it; what was there before stands in ${change.file}, below its first line`;
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

/** What the files of changes hold now. */
async function holdingOf(changes: readonly SavedFile[]): Promise<Map<string, Content | null>> {
  const holding = new Map<string, Content | null>();
  for (const { path } of changes) {
    if (holding.has(path)) continue;
    const bytes = bytesOf(path);
    holding.set(path, bytes === null ? null : await describe(bytes));
  }
  return holding;
}

/** The bytes at the very path of a change; null for everything that is no regular file there. */
function bytesOf(path: string): Uint8Array | null {
  // A link on the way leads to another file than the one that was changed.
  if (realPath(path, "/") !== path) return null;
  try {
    return snapshotOrNone(path, path)?.bytes ?? null;
  } catch {
    // A folder, a device, or out of reach: in any case not what the tool left there.
    return null;
  }
}

async function whyChanged(change: SavedFile): Promise<string> {
  const now = bytesOf(change.path);
  return changedLines((await contentOf(change)).after ?? new Uint8Array(), now);
}

/** Puts one change back under the lock of its file; null when it is done, else why not. */
async function putBack(change: SavedFile, { environment, between }: UndoRequest): Promise<string | null> {
  const { path, before } = change;
  const content = await contentOf(change);
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
        temporary: nameOf(temporary),
      });
    }
  } catch (thrown) {
    return `it could not be put back: ${thrownText(thrown)}`;
  } finally {
    lock.release();
  }
  await noted(change);
  return null;
}

/** The same of a file that holds it already, be it that an undo was killed: what that left is cleared away with the lock. */
async function notedAgain(change: SavedFile, environment: Environment): Promise<void> {
  const lock = await lockForWriting(change.path, environment, new AbortController().signal);
  lock.release();
  await noted(change);
}

/** What is left to do once a file holds what it held before. */
async function noted(change: SavedFile): Promise<void> {
  if (change.before === null) await removeEmpty(change.made);
  await markUndone(change);
}

/** Removes a file that still is what it was; one that somebody saved meanwhile goes back to its place. */
async function takeAway(path: string, since: Snapshot, lock: WriteLock): Promise<void> {
  const aside = temporaryIn(parentOf(path));
  await Deno.rename(path, aside);
  if (sameBytes(await Deno.readFile(aside), since.bytes)) {
    // From here on nothing of anybody's is in it.
    lock.note(aside);
    await removeIfThere(aside);
    return;
  }
  if (takePlace(aside, path, null)) throw new Error("it was changed meanwhile");
  throw new Error(`it was changed meanwhile; what was saved there is now ${aside}`);
}

/** Removes folders that were made with a file, the innermost first, as far as nothing else is in them. */
async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) {
    try {
      await Deno.remove(folder);
    } catch {
      // Something of somebody's is in it, or it is gone.
      return;
    }
  }
}
