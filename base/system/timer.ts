// Timers that are not based on the timers of the runtime. The runtime's timers load the Node layer on first use, which
// takes 5 ms of a process that may live for 60 ms. An abort signal with a timeout loads nothing.

/** Maximum number of milliseconds of a runtime timer. */
const LONGEST = 2 ** 31 - 1;

/**
 * Calls `act` once, after at least this many milliseconds, and keeps the process alive until then. A cancelled call
 * does not keep the process alive, but uses some hundred bytes until its time. Code that postpones a call repeatedly
 * should check when the call is due, instead of creating a new one each time.
 * @returns a function that cancels the call; it does nothing once the call was made
 */
export function after(milliseconds: number, act: () => void): () => void {
  const time = Math.max(0, Math.min(Math.ceil(milliseconds), LONGEST));
  if (!("Deno" in globalThis)) {
    // In other runtimes, such a signal does not keep the process alive.
    const timer = setTimeout(act, time);
    return () => clearTimeout(timer);
  }
  const signal = AbortSignal.timeout(time);
  signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
}

/** Resolves after at least this many milliseconds, or once the signal aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const cancel = after(milliseconds, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** Milliseconds for handling input that has already arrived. */
const TURN = 20;

/**
 * Like `after`, but for a limit on the wait for another party's answer. An answer that arrived in time counts even if
 * this process was stopped or the machine was busy. Then both the timeout and the answer are due, and timers run
 * first, so `act` is delayed until the answer is processed.
 */
export function afterSilence(milliseconds: number, act: () => void): () => void {
  let takeBack = after(milliseconds, () => takeBack = after(TURN, act));
  return () => takeBack();
}

/** Like `pause`, but does not keep the process alive. Loads the Node layer. */
export function pauseUnheld(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    Deno.unrefTimer(timer);
    signal.addEventListener("abort", done, { once: true });
  });
}

/** Repeated work takes at most one part in this many of the time. */
const SHARE = 20;

/**
 * Does `act` immediately and then repeatedly, until the signal aborts. Pauses for at least this many milliseconds;
 * longer if `act` takes long, so that the rest of the program goes on.
 */
export async function repeatPaced(
  milliseconds: number,
  act: () => unknown,
  signal: AbortSignal,
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void> = pause,
): Promise<void> {
  while (!signal.aborted) {
    const begun = performance.now();
    act();
    await wait(Math.max(milliseconds, (performance.now() - begun) * SHARE), signal);
  }
}
