// A sample that is the same for the same seed.

/** Returns `count` of the items, in their original order; all of them if there are not more. */
export function sample<T>(items: readonly T[], count: number, seed: number): T[] {
  const random = generator(seed);
  const picked = new Set<number>();
  while (picked.size < Math.min(count, items.length)) picked.add(Math.floor(random() * items.length));
  return items.filter((_, index) => picked.has(index));
}

/** Generates numbers from 0 to 1 with the algorithm mulberry32. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
