// Works on many things, so many at a time, in their order.

/**
 * Calls `work` for each item, at most `jobs` at a time; each next one begins when one ends.
 *
 * @param items what is worked on
 * @param options `jobs`: how many at a time; `signal`: nothing begins once it is aborted
 * @param work must not throw: what one item comes to is no matter of the others
 * @returns what became of each item, in their order; undefined for those that did not begin
 */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  { jobs, signal }: { readonly jobs: number; readonly signal: AbortSignal },
  work: (item: Item) => Promise<Result>,
): Promise<readonly (Result | undefined)[]> {
  const results: (Result | undefined)[] = items.map(() => undefined);
  let next = 0;
  const worker = async () => {
    while (next < items.length && !signal.aborted) {
      const at = next++;
      results[at] = await work(items[at]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, worker));
  return results;
}
