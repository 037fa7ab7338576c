// A question with yes or no, at a terminal.

import { writeError } from "../../io/streams.ts";

/** True if a person can answer. */
export function asksAt(): boolean {
  return Deno.stdin.isTerminal() && Deno.stderr.isTerminal();
}

/** Asks a question; only yes agrees. */
export async function confirmed(question: string): Promise<boolean> {
  writeError(`${question} [y/N] `);
  const buffer = new Uint8Array(256);
  const count = await Deno.stdin.read(buffer);
  return count !== null && /^\s*y(?:es)?\s*$/i.test(new TextDecoder().decode(buffer.subarray(0, count)));
}
