// Reads a file that another process may be writing.

import { sameBytes } from "../bytes.ts";

/** Milliseconds without a change after which a file counts as complete. */
const STILL = 20;
/**
 * Milliseconds without a change after which a file that seems unfinished counts as complete. A file seems unfinished if
 * it became shorter, ends inside a line, or was renamed away.
 */
export const STILL_UNFINISHED = 400;
/**
 * Milliseconds without a change after which an empty file counts as complete. Hardly anybody saves an empty text, and
 * on a busy machine an editor may write the text late.
 */
const STILL_EMPTY = 4000;
/** Milliseconds after which a file that keeps changing is accepted as it is. */
const LONGEST = 5000;

/**
 * Returns the result of `read` once it no longer changes; null if the file is missing. Waits longer for a missing file
 * and for a text that seems incomplete, because editors empty or rename a file before they write it. With `patient`,
 * it waits that long for every text.
 */
export async function readSettled(
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

/** True if the text is missing, much shorter than before, or ends inside a line. */
function isUnfinished(text: Uint8Array | null, before: Uint8Array): boolean {
  if (text === null) return true;
  return text.length < before.length * 0.75 || (before.at(-1) === LF && text.at(-1) !== LF);
}

const LF = 0x0a;
