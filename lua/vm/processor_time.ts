// How long the running thread has had a processor, which says of work what a clock cannot say on a busy machine.

/** For the thread that reads it: nanoseconds on a processor, nanoseconds of waiting for one, and turns. */
const FILE = "/proc/thread-self/schedstat";

/** Milliseconds for which this thread has had a processor so far; null where the system does not tell. */
export function processorTime(): number | null {
  if (Deno.build.os !== "linux") return null;
  try {
    const spent = Number(Deno.readTextFileSync(FILE).split(" ", 1)[0]);
    // A kernel without this account says 0 of everything.
    return Number.isFinite(spent) && spent > 0 ? spent / 1e6 : null;
  } catch {
    // No /proc, or a kernel without this account: that is the answer.
    return null;
  }
}
