// A limit on how long something is waited for that may never end, such as a file of a disk that does not answer.

/** Seconds a file that is only read may take; more than any that a request can hold needs. */
export const READ_SECONDS = 30;

/** Rejects with this when the time is over. */
export class TimeOver extends Error {
  constructor(seconds: number) {
    super(`no answer within ${seconds} second${seconds === 1 ? "" : "s"}`);
  }
}

/**
 * What `work` comes to, unless that takes longer than `seconds` or the signal aborts: then this rejects, with `TimeOver` or
 * the signal's reason, and whatever comes of the work later is nobody's business. What hangs in the system cannot be ended; it
 * ends with the process.
 */
export async function within<T>(seconds: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop = (): void => {};
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeOver(seconds)), Math.min(seconds * 1000, 2 ** 31 - 1));
    stop = () => reject(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}
