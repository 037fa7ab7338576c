// Shared by servers on standard input and output: complete writes, and an orderly end on signals.

/** Signals that end a server in order: the server cancels what it runs and saves the results. */
const SIGNALS: readonly Deno.Signal[] = ["SIGTERM", "SIGINT", "SIGHUP"];

/** Repeats `write` until every byte is written, because one call may accept only some of them. */
export function writeOn(
  target: { write(bytes: Uint8Array): Promise<number> },
): (bytes: Uint8Array) => Promise<void> {
  return async (bytes) => {
    for (let at = 0; at < bytes.length;) at += await target.write(bytes.subarray(at));
  };
}

/** Returns an AbortSignal that aborts when the system asks this process to end. */
export function listenForEnd(): { readonly signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  const end = () => controller.abort();
  for (const each of SIGNALS) Deno.addSignalListener(each, end);
  return {
    signal: controller.signal,
    dispose: () => {
      for (const each of SIGNALS) Deno.removeSignalListener(each, end);
    },
  };
}
