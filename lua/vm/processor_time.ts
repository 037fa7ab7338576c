// Processor time of the current thread, which measures work correctly even on a busy machine.

/** For the reading thread: nanoseconds on a processor, nanoseconds of waiting for one, and time slices. */
const FILE = "/proc/thread-self/schedstat";

/** Milliseconds of processor time of this thread so far; null if the system does not report it. */
export function processorTime(): number | null {
  if (Deno.build.os !== "linux") return null;
  try {
    const spent = Number(Deno.readTextFileSync(FILE).split(" ", 1)[0]);
    // A kernel without this accounting reports zeros.
    return Number.isFinite(spent) && spent > 0 ? spent / 1e6 : null;
  } catch {
    // No /proc, or a kernel without this accounting.
    return null;
  }
}
