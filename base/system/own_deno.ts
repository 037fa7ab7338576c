// The Deno that can run other programs of flemma: helpers, tool files, the relay of a network list.

/** In Node, the system has this function: the path of the Deno in the same package, or null. */
interface OtherRuntime {
  readonly packagedDeno?: () => string | null;
}

/**
 * Path of the Deno that belongs to this process: its runtime, or the one that was installed with the package of the
 * library. Null if this program is compiled, which cannot run other files, or if there is none.
 */
export function ownDeno(): string | null {
  if (Deno.build.standalone) return null;
  try {
    const { packagedDeno } = Deno as OtherRuntime;
    return packagedDeno === undefined ? Deno.execPath() : packagedDeno();
  } catch {
    // The runtime is not Deno but only imitates it.
    return null;
  }
}
