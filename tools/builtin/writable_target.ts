// Which file a call may write, and in which order calls write (tools 8.3, sandbox 8).

import { isSystemPath } from "../../base/system/reading.ts";
import { nameOf, parentOf } from "../../base/paths.ts";
import { realPath } from "../../base/disk/real_path.ts";
import type { ExecutionContext } from "../definition.ts";
import type { Changed, Target } from "../files/change.ts";
import { FileFailure, systemSentence } from "../../base/disk/failures.ts";
import { inTime, onDisk } from "../files/on_disk.ts";
import { changedSentence } from "../files/replace.ts";
import { leading, nowhereSentence } from "./file_failures.ts";
import { lockForWriting, temporaryIn, type WriteLock } from "./write_lock.ts";

const waiting = new Map<string, Promise<unknown>>();

/**
 * Runs `work` with the real path of a target after all earlier work on that path, of this run and of all others, so that
 * two edits both survive. The place in the line is taken before this function returns its promise.
 *
 * Rejects with a FileFailure when the target may not be written; nothing has been made then.
 */
export function inOrder<T>(
  path: string,
  context: ExecutionContext,
  work: (real: string, lock: WriteLock) => Promise<T>,
): Promise<T> {
  const place = realTarget(path, context) ?? "";
  const before = waiting.get(place) ?? Promise.resolve();
  const result = before.then(async () => {
    const real = writableTarget(path, context);
    const lock = await lockForWriting(real, context.environment, context.signal);
    try {
      // While this call waited for another run, the path may have become another one.
      if (writableTarget(path, context) !== real) throw new FileFailure(changedSentence(path));
      return await work(real, lock);
    } finally {
      lock.release();
    }
  });
  const settled = result.catch(() => undefined);
  waiting.set(place, settled);
  settled.then(() => {
    if (waiting.get(place) === settled) waiting.delete(place);
  });
  return result;
}

function realTarget(path: string, context: ExecutionContext): string | null {
  return realPath(context.path.resolve(path), context.environment.cwd);
}

/** The real path to write to, judged at the time of writing: a link may have changed while this call waited. */
function writableTarget(path: string, context: ExecutionContext): string {
  const real = realTarget(path, context);
  if (real === null) {
    throw new FileFailure(nowhereSentence(path));
  }
  if (/\/\.{0,2}$/.test(path)) {
    throw new FileFailure(`The path ${path} names a folder; tools write files only.`);
  }
  if (isSystemPath(real)) throw new FileFailure(systemSentence(path));
  if (isRunningDocument(real, context)) {
    throw new FileFailure(`${path} is the document of this conversation; tools may not write to it.`);
  }
  if (!context.sandbox.isPathWritable(real)) {
    throw new FileFailure(
      `Sandbox: ${
        leading(path, real, context)
      } is not writable for tools; choose a path in a writable folder.`,
    );
  }
  return real;
}

function isRunningDocument(real: string, { document, environment }: ExecutionContext): boolean {
  if (document === null) return false;
  if (realPath(document, environment.cwd) === real) return true;
  const own = status(document);
  const other = status(real);
  return own !== null && other !== null && own.ino !== null && own.ino === other.ino && own.dev === other.dev;
}

function status(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null; // What cannot be looked at is not the document we are running.
  }
}

/**
 * Has a file changed after all earlier work on it, and remembers what it holds then. Rejects as `inOrder` does, and with what
 * `change` rejects with.
 *
 * @param change is given the file, and answers what came of it
 */
export async function changeInOrder<Answer extends object>(
  path: string,
  context: ExecutionContext,
  change: (target: Target) => Promise<Answer>,
): Promise<Answer> {
  return await inOrder(path, context, async (real, lock) => {
    const temporary = temporaryIn(parentOf(real));
    const mayStand = context.sandbox.isPathWritable(temporary);
    // Whoever comes after a crash takes it away.
    if (mayStand) lock.note(temporary);
    const changed = await context.keepReplaced?.({ path: real, shownAs: path });
    const answer = await change({
      real,
      shown: path,
      temporary: mayStand ? nameOf(temporary) : null,
      seen: context.seen?.get(real)?.hash ?? null,
    }).catch(async (thrown: unknown) => {
      if (mayStand) await discard(temporary, context);
      throw thrown;
    }).finally(() => changed?.());
    const { done = false, now = null } = answer as Partial<Changed>;
    if (now !== null) await context.seen?.record([[real, now]]);
    if (done) context.onFileChanged?.(real);
    return answer;
  });
}

/** Seconds in which that has to be done. */
const DISCARD_SECONDS = 2;

/** Takes away what work that was ended in the middle may have left. */
async function discard(temporary: string, context: ExecutionContext): Promise<void> {
  if (context.disk === undefined) return;
  try {
    const time = { timeout: DISCARD_SECONDS, signal: new AbortController().signal };
    await inTime(time, (signal) => onDisk(context, "discard", { real: temporary }, signal));
  } catch {
    // The first failure is the one to tell; the next run that writes takes it away by the note.
  }
}
