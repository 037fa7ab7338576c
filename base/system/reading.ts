// Reads untrusted files safely: never reads a file that was replaced after its check, and never reads endlessly.

import { openRegular, openRegularSync, readAll } from "./regular_file.ts";
import { afterSilence } from "./timer.ts";

/** Returns why a file must not be read, or null if it may be read. `real` is its real path. */
export type CheckFile = (real: string, info: Deno.FileInfo) => string | null;

const EXCHANGED = "it was replaced while flemma opened it";

/** Returns the bytes of a file that `check` allows, or why it is not read. Rejects with the system's errors. */
export async function readChecked(path: string, check: CheckFile): Promise<Uint8Array<ArrayBuffer> | string> {
  const real = await Deno.realPath(path);
  const info = await Deno.stat(real);
  const obstacle = check(real, info);
  if (obstacle !== null) return obstacle;
  const { file, info: opened } = await openRegular(real);
  try {
    if (!isSame(opened, info) || await Deno.realPath(path) !== real) return EXCHANGED;
    // A file that grows meanwhile is read as far as it was checked.
    return (await readAll(file, opened.size, opened.size)).subarray(0, opened.size);
  } finally {
    file[Symbol.dispose]();
  }
}

/** Synchronous version of `readChecked`. */
export function readCheckedSync(path: string, check: CheckFile): Uint8Array<ArrayBuffer> | string {
  const real = Deno.realPathSync(path);
  const info = Deno.statSync(real);
  const obstacle = check(real, info);
  if (obstacle !== null) return obstacle;
  const { file, info: opened } = openRegularSync(real);
  using _ = file;
  if (!isSame(opened, info) || Deno.realPathSync(path) !== real) return EXCHANGED;
  const bytes = new Uint8Array(info.size);
  let filled = 0;
  for (let count = 1; filled < bytes.length && count > 0; filled += count) {
    count = file.readSync(bytes.subarray(filled)) ?? 0;
  }
  return bytes.subarray(0, filled);
}

function isSame(opened: Deno.FileInfo, checked: Deno.FileInfo): boolean {
  return opened.dev === checked.dev && opened.ino === checked.ino;
}

/** Maximum number of seconds for reading a file. A file that is small enough for a request never needs that long. */
export const READ_SECONDS = 30;

/** Thrown when the time is over. */
export class TimeOver extends Error {
  constructor(seconds: number) {
    super(`no answer within ${seconds} second${seconds === 1 ? "" : "s"}`);
  }
}

/**
 * Returns the result of `work`. If `work` takes longer than `seconds` or the signal aborts, rejects with `TimeOver` or
 * the signal's reason, and ignores a later result. A hanging system call ends only with the process.
 */
export async function withTimeout<T>(seconds: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  let inTime = (): void => {};
  let stop = (): void => {};
  const over = new Promise<never>((_, reject) => {
    inTime = afterSilence(seconds * 1000, () => reject(new TimeOver(seconds)));
    stop = () => reject(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    inTime();
    signal?.removeEventListener("abort", stop);
  }
}
