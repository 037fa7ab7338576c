// Time for tests: waits end immediately, or when the test says that the time has come.

/** What `body` would have waited for, in milliseconds; all of it is due at once. */
export async function withoutWaiting(body: () => void | Promise<void>): Promise<readonly number[]> {
  const waits: number[] = [];
  await withTimeouts((milliseconds, original) => {
    waits.push(milliseconds);
    return original(0);
  }, body);
  return waits;
}

/** Runs `body` with a wait of exactly so many milliseconds in its hand: it is over when `due` is called. */
export async function withWaitInHand(
  milliseconds: number,
  body: (due: () => void) => void | Promise<void>,
): Promise<void> {
  const waiting: AbortController[] = [];
  await withTimeouts((wait, original) => {
    if (wait !== milliseconds) return original(wait);
    const controller = new AbortController();
    waiting.push(controller);
    return controller.signal;
  }, () => body(() => waiting.splice(0).forEach((controller) => controller.abort())));
}

/** A clock that stands still until a test lets time pass. */
export class Clock {
  #now = performance.now();
  readonly #waiting = new Set<{ readonly due: number; readonly controller: AbortController }>();

  now(): number {
    return this.#now;
  }

  /** A signal that aborts when its time has passed here. */
  timeout(milliseconds: number): AbortSignal {
    const controller = new AbortController();
    this.#waiting.add({ due: this.#now + milliseconds, controller });
    return controller.signal;
  }

  /** Lets what can be done now be done, then so much time pass: whatever is due meanwhile is due at its moment. */
  async pass(milliseconds: number): Promise<void> {
    await turn();
    const end = this.#now + milliseconds;
    for (;;) {
      const [next] = [...this.#waiting].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
      if (next === undefined) break;
      this.#waiting.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.controller.abort();
      await turn();
    }
    this.#now = end;
  }
}

/** Runs `body` by a clock of its own: what the program waits for, and what it measures. */
export async function withClock(body: (clock: Clock) => void | Promise<void>): Promise<void> {
  const clock = new Clock();
  const { now } = performance;
  performance.now = () => clock.now();
  try {
    await withTimeouts((milliseconds) => clock.timeout(milliseconds), () => body(clock));
  } finally {
    performance.now = now;
  }
}

async function withTimeouts(
  timeout: (milliseconds: number, original: typeof AbortSignal.timeout) => AbortSignal,
  body: () => void | Promise<void>,
): Promise<void> {
  const original = AbortSignal.timeout;
  AbortSignal.timeout = (milliseconds) => timeout(milliseconds, original);
  try {
    await body();
  } finally {
    AbortSignal.timeout = original;
  }
}

/** Lets everything go on that need not wait. */
function turn(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}
