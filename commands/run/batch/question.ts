// A question with yes or no, at a terminal.

import { writeError } from "../../io/streams.ts";

/** True if a person can answer. */
export function asksAt(): boolean {
  return Deno.stdin.isTerminal() && Deno.stderr.isTerminal();
}

/** Asks a question; only yes agrees. Ctrl-C declines. */
export async function confirmed(question: string, signal: AbortSignal): Promise<boolean> {
  writeError(`${question} [y/N] `);
  const buffer = new Uint8Array(256);
  const interrupted = new Promise<null>((end) =>
    signal.addEventListener("abort", () => end(null), { once: true })
  );
  const count = await Promise.race([Deno.stdin.read(buffer), interrupted]);
  return count !== null && /^\s*y(?:es)?\s*$/i.test(new TextDecoder().decode(buffer.subarray(0, count)));
}
