// Reading a file that somebody else may be in the middle of writing.

import { sameBytes } from "../bytes.ts";

/** Milliseconds for which a file must stay the same to count as whole. */
const STILL = 20;
/** Milliseconds where it looks as if more were to come: emptied, cut short, or renamed away. */
export const STILL_UNFINISHED = 400;
/** Milliseconds where there is nothing at all: nobody saves nothing, and a busy machine lets a writer wait. */
const STILL_EMPTY = 4000;
/** Milliseconds after which a file that never rests is taken as it is. */
const LONGEST = 5000;

/**
 * What `read` gives once it no longer changes; null when there is nothing to read. A text that looks as if more were to
 * come, and a file that vanished, get a longer time: editors empty or rename a file before they write it. So does every
 * text with `patient`.
 */
export async function settled(
  read: () => Promise<Uint8Array | null>,
  before: Uint8Array,
  { patient = false }: { readonly patient?: boolean } = {},
): Promise<Uint8Array | null> {
  const begun = performance.now();
  let text = await read();
  let since = begun;
  for (;;) {
    const empty = text !== null && text.length === 0 && before.length > 0;
    const unfinished = patient || isUnfinished(text, before);
    const wanted = empty ? STILL_EMPTY : unfinished ? STILL_UNFINISHED : STILL;
    const now = performance.now();
    if (now - since >= wanted || now - begun >= LONGEST) return text;
    await new Promise((done) => setTimeout(done, STILL));
    const next = await read();
    const same = text === null ? next === null : next !== null && sameBytes(text, next);
    if (!same) since = performance.now();
    text = next;
  }
}

/** Gone, much shorter than before, or cut inside a line. */
function isUnfinished(text: Uint8Array | null, before: Uint8Array): boolean {
  if (text === null) return true;
  return text.length < before.length * 0.75 || (before.at(-1) === LF && text.at(-1) !== LF);
}

const LF = 0x0a;
