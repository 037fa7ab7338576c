// Runs a call's file operations: in the helper of its run, or in this process if the context has no helper.

import { TimeOver, withTimeout } from "../../base/system/reading.ts";
import { isSystemPath } from "../../base/system/system_files.ts";
import { afterSilence } from "../../base/system/timer.ts";
import type { ExecutionContext } from "../definition.ts";
import { OWN_ACCESS } from "../../base/disk/folder_access.ts";
import { type FileOperation, type Operations, perform } from "./operations.ts";

/**
 * Performs one operation for a call. Paths in the request are real and were checked; the process that does the work
 * checks their targets again. Rejects as `perform` does.
 *
 * @param signal ends the work
 */
export async function performOnDisk<Name extends FileOperation>(
  { disk, sandbox }: Pick<ExecutionContext, "disk" | "sandbox">,
  name: Name,
  request: Operations[Name][0],
  signal: AbortSignal,
): Promise<Operations[Name][1]> {
  if (disk !== undefined) return await disk.perform(name, request, signal) as Operations[Name][1];
  const isReadable = (real: string) => !isSystemPath(real) && sandbox.isPathReadable(real);
  return await perform(name, request, { ...OWN_ACCESS, isReadable, rg: null }, signal);
}

/** Runs work until the time limit of a call. Work that exceeds it is cancelled. */
export async function runWithTimeout<T>(
  { timeout, signal }: Pick<ExecutionContext, "timeout" | "signal">,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  try {
    return await withTimeout(timeout, work(AbortSignal.any([over.signal, signal])), signal);
  } finally {
    over.abort();
  }
}

/**
 * Runs work whose signal aborts when a call's time is over. After the abort it still waits for the work, which may be
 * at a point where it must not be interrupted.
 */
export async function runUninterrupted<T>(
  { timeout, signal }: Pick<ExecutionContext, "timeout" | "signal">,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const inTime = afterSilence(timeout * 1000, () => over.abort(new TimeOver(timeout)));
  try {
    return await work(AbortSignal.any([over.signal, signal]));
  } finally {
    inTime();
  }
}
