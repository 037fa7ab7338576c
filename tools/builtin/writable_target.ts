// Decides which file a call may write, and runs writes to the same file in order.

import { isSystemPath } from "../../base/system/system_files.ts";
import { baseName, isInside, parentOf } from "../../base/paths.ts";
import { realPath } from "../../base/disk/real_path.ts";
import type { ExecutionContext } from "../definition.ts";
import type { Changed, ChangeTarget } from "../files/change.ts";
import { FileFailure, systemSentence } from "../../base/disk/failures.ts";
import { performOnDisk, runWithTimeout } from "../files/on_disk.ts";
import { changedSentence } from "../files/replace.ts";
import { describeTarget, nowhereSentence } from "./file_failures.ts";
import { lockForWriting, temporaryIn, type WriteLock } from "./write_lock.ts";

const waiting = new Map<string, Promise<unknown>>();

/**
 * Runs `work` with the real path of a target after all earlier work on that path, in this and all other runs, so that
 * two edits both take effect. The position in the queue is taken before this function returns its promise.
 *
 * Rejects with a FileFailure if the target may not be written; nothing is created then.
 */
export function queueForPath<T>(
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
      // The path may have changed its target while this call waited for another run.
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

/** The real path to write, checked at the time of writing: a link may have changed while this call waited. */
function writableTarget(path: string, context: ExecutionContext): string {
  const real = realTarget(path, context);
  if (real === null) {
    throw new FileFailure(nowhereSentence(path));
  }
  if (/\/\.{0,2}$/.test(path)) {
    throw new FileFailure(`${path} names a folder. Give the path of a file.`);
  }
  if (isSystemPath(real)) throw new FileFailure(systemSentence(path));
  if (isRunningDocument(real, context)) {
    throw new FileFailure(`${path} is the document of this conversation. Tools may not write to it.`);
  }
  if (!context.sandbox.isPathWritable(real)) {
    throw new FileFailure(
      `Sandbox: tools may not write to ${describeTarget(path, real, context)}. ${wayOut(real, context)}`,
    );
  }
  return real;
}

/** What to do about a path that the sandbox does not let tools write, with the setting. */
function wayOut(real: string, { sandbox }: ExecutionContext): string {
  const policy = sandbox.policy();
  const isProtected = !sandbox.enabled ||
    (policy.ok && policy.value.rw_paths.some((root) => isInside(real, root)));
  return isProtected
    ? "Other programs run it or read settings from it, so only the user may change it (sandbox.policy.protect)."
    : "Choose a path in a writable folder, or let the user add one to sandbox.policy.rw_paths.";
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
    return null; // An unreadable file cannot be the running document.
  }
}

/**
 * Waits for all earlier work on a file, then changes the file and records its new state. Rejects if `queueForPath` or
 * `change` rejects.
 *
 * @param change receives the file and returns the result of the change
 */
export async function changeInOrder<Answer extends object>(
  path: string,
  context: ExecutionContext,
  change: (target: ChangeTarget) => Promise<Answer>,
): Promise<Answer> {
  return await queueForPath(path, context, async (real, lock) => {
    const temporary = temporaryIn(parentOf(real));
    const mayStand = context.sandbox.isPathWritable(temporary);
    // The temporary file is recorded, so that a later run removes it after a crash.
    if (mayStand) lock.note(temporary);
    const changed = await context.keepReplaced?.({ path: real, shownAs: path });
    const answer = await change({
      real,
      shown: path,
      temporary: mayStand ? baseName(temporary) : null,
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

/** Time limit for the removal, in seconds. */
const DISCARD_SECONDS = 2;

/** Removes what interrupted work may have left. */
async function discard(temporary: string, context: ExecutionContext): Promise<void> {
  if (context.disk === undefined) return;
  try {
    const time = { timeout: DISCARD_SECONDS, signal: new AbortController().signal };
    await runWithTimeout(time, (signal) => performOnDisk(context, "discard", { real: temporary }, signal));
  } catch {
    // Only the first failure is reported. The lock records the file, so the next run that writes to this path removes
    // it.
  }
}
