// Time that tests do not have: whatever waits for a moment has waited for it at once.

/** What `body` would have waited for, in milliseconds; all of it is due at once. */
export async function withoutWaiting(body: () => void | Promise<void>): Promise<readonly number[]> {
  const waits: number[] = [];
  const original = AbortSignal.timeout;
  AbortSignal.timeout = (milliseconds) => {
    waits.push(milliseconds);
    return original(0);
  };
  try {
    await body();
  } finally {
    AbortSignal.timeout = original;
  }
  return waits;
}
