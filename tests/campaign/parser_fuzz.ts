// Random documents and edits tested against the parser's guarantees. Each follows from its seed alone.

import { hostileDocument, Random } from "../parser/hostile.ts";
import { checkDocument, checkEdits } from "../parser/promises.ts";

/** Large documents cost most of the time and try the same few places; of a million there are enough of them. */
const LARGE_ONE_IN = 60;

/** Reads so many documents in three ways. */
export function documents(count: number, seed: number): Promise<string> {
  return each(count, seed, "documents", (random) => checkDocument(hostileDocument(random, LARGE_ONE_IN)));
}

/** Edits so many documents several times. */
export function editSequences(count: number, seed: number): Promise<string> {
  return each(
    count,
    seed,
    "edit sequences",
    (random) => checkEdits(hostileDocument(random, LARGE_ONE_IN), random),
  );
}

async function each(
  count: number,
  seed: number,
  what: string,
  check: (random: Random) => void,
): Promise<string> {
  for (let at = 0; at < count; at++) {
    try {
      check(new Random(seed + at));
    } catch (cause) {
      throw new Error(`${what}: seed ${seed + at}`, { cause });
    }
    // A signal is heard between two of them.
    if (at % 500 === 499) await new Promise((done) => setTimeout(done, 0));
  }
  return `${count} ${what}: no difference`;
}
