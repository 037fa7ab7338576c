// A moment from now, without the runtime's own timers: the first use of one of those wakes all of the Node layer, which takes
// 5 ms of a process that may live for 60. A signal that aborts by itself wakes nothing.

/** The most milliseconds a timer of the runtime can wait. */
const LONGEST = 2 ** 31 - 1;

/**
 * Calls `act` once, after so many milliseconds at the earliest, and keeps the process alive until then.
 *
 * What is taken back keeps nothing alive, but takes some hundred bytes until its time: what is put off again and again should be
 * looked at when it is due, not be made anew each time.
 *
 * @returns takes it back; nothing happens once it is done
 */
export function after(milliseconds: number, act: () => void): () => void {
  const signal = AbortSignal.timeout(Math.max(0, Math.min(milliseconds, LONGEST)));
  signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
}

/** Milliseconds in which what is there already is taken in. */
const TURN = 20;

/**
 * Calls `act` as `after` does, where it tells that somebody else kept it waiting for too long. What came in time counts, also
 * where this process did not run meanwhile, stopped or on a busy machine: it finds the moment over and the answer there at
 * once, and timers come first.
 */
export function afterSilence(milliseconds: number, act: () => void): () => void {
  let takeBack = after(milliseconds, () => takeBack = after(TURN, act));
  return () => takeBack();
}
