// What servers on standard input and output share: whole writes, and an end in order when the system asks for one.

/** Signals that end a server in order: what runs is cancelled, and what it has is kept. */
const SIGNALS: readonly Deno.Signal[] = ["SIGTERM", "SIGINT", "SIGHUP"];

/** Writes every byte, however many the other side takes at a time. */
export function writeOn(
  target: { write(bytes: Uint8Array): Promise<number> },
): (bytes: Uint8Array) => Promise<void> {
  return async (bytes) => {
    for (let at = 0; at < bytes.length;) at += await target.write(bytes.subarray(at));
  };
}

/** A signal that aborts when the system asks this process to end. */
export function ending(): { readonly signal: AbortSignal; dispose(): void } {
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
