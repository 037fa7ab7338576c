// Processor time of the current thread, which measures work correctly even on a busy machine.

/**
 * File with three numbers about the thread that reads it: nanoseconds on a processor, nanoseconds of waiting for one,
 * and time slices.
 */
const FILE = "/proc/thread-self/schedstat";

/** Returns the milliseconds of processor time of this thread so far; null if the system does not report it. */
export function processorTime(): number | null {
  if (Deno.build.os !== "linux") return null;
  try {
    const spent = Number(Deno.readTextFileSync(FILE).split(" ", 1)[0]);
    // A kernel without this accounting reports zeros.
    return Number.isFinite(spent) && spent > 0 ? spent / 1e6 : null;
  } catch {
    // There is no /proc, or the kernel lacks this accounting.
    return null;
  }
}
