// Reading a file that somebody else is writing: their save is taken when it is whole, not in the middle of it.

import { sameBytes } from "../../base/bytes.ts";

/** Milliseconds for which a file must stay the same to count as whole. */
const STILL = 20;
/** Milliseconds where it looks as if more were to come: emptied, cut short, or renamed away. */
const STILL_UNFINISHED = 400;
/** Milliseconds after which a file that never rests is taken as it is. */
const LONGEST = 5000;

/**
 * What `read` gives once it no longer changes; null when there is nothing to read. A text that is only the beginning of
 * `before`, and a file that vanished, get a longer time: editors empty or rename a file before they write it.
 */
export async function settled(
  read: () => Promise<Uint8Array | null>,
  before: Uint8Array,
): Promise<Uint8Array | null> {
  const begun = performance.now();
  let text = await read();
  let since = begun;
  for (;;) {
    const wanted = isUnfinished(text, before) ? STILL_UNFINISHED : STILL;
    const now = performance.now();
    if (now - since >= wanted || now - begun >= LONGEST) return text;
    await new Promise((done) => setTimeout(done, STILL));
    const next = await read();
    const same = text === null ? next === null : next !== null && sameBytes(text, next);
    if (!same) since = performance.now();
    text = next;
  }
}

function isUnfinished(text: Uint8Array | null, before: Uint8Array): boolean {
  return text === null || (text.length < before.length && sameBytes(text, before.subarray(0, text.length)));
}

/** The bytes at a path, or null when there is no file. */
export async function readOrNull(path: string): Promise<Uint8Array | null> {
  try {
    return await Deno.readFile(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}
