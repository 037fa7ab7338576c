// Where a call's work on files is done: by the helper of its run, or here where the context has none.

import { isSystemPath, TimeOver, within } from "../../base/system/reading.ts";
import { afterSilence } from "../../base/system/timer.ts";
import type { ExecutionContext } from "../definition.ts";
import { OWN_ACCESS } from "../../base/disk/folder_access.ts";
import { type Operation, type Operations, perform } from "./operations.ts";

/**
 * Does one operation for a call. Paths in the request are real and were judged; what they lead to is judged again where it is
 * done. Rejects as `perform` does.
 *
 * @param signal ends the work
 */
export async function onDisk<Name extends Operation>(
  { disk, sandbox }: Pick<ExecutionContext, "disk" | "sandbox">,
  name: Name,
  request: Operations[Name][0],
  signal: AbortSignal,
): Promise<Operations[Name][1]> {
  if (disk !== undefined) return await disk.perform(name, request, signal) as Operations[Name][1];
  const isReadable = (real: string) => !isSystemPath(real) && sandbox.isPathReadable(real);
  return await perform(name, request, { ...OWN_ACCESS, isReadable, rg: null }, signal);
}

/** Work that ends with the time of a call. What nobody waits for any more is told so, and does not go on. */
export async function inTime<T>(
  { timeout, signal }: Pick<ExecutionContext, "timeout" | "signal">,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  try {
    return await within(timeout, work(AbortSignal.any([over.signal, signal])), signal);
  } finally {
    over.abort();
  }
}

/**
 * Work whose signal aborts when the time of a call is over, and which is waited for then too: it may be at a place where it must
 * not be ended.
 */
export async function inItsTime<T>(
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
