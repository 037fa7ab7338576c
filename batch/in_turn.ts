// Runs work on many items in order, with a limit on how many run in parallel.

/**
 * Calls `work` for each item in order, at most `jobs` in parallel.
 *
 * @param items the items to work on
 * @param options `jobs`: the limit; `signal`: once aborted, no further item starts
 * @param work must not throw: one error would reject the results of all items
 * @returns the result of each item, in the order of the items; undefined for items that did not start
 */
export async function runInTurn<Item, Result>(
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

/** A signal for the work on one of many documents. */
export interface OwnSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Returns a signal that aborts with another one, until it is disposed. Listeners on one shared signal would keep
 * everything about documents that are done in memory.
 */
export function ownSignal(shared: AbortSignal | undefined): OwnSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(shared?.reason);
  if (shared?.aborted === true) abort();
  else shared?.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => shared?.removeEventListener("abort", abort),
  };
}
