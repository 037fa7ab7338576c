// The retry policy for temporary errors: at most six attempts within ten minutes.

import type { ProviderError } from "../types.ts";

/** Time as seen by a run. */
export interface Clock {
  /** Returns the time in milliseconds, which never decreases. */
  now(): number;
  /** Returns date and time of day. */
  date(): Date;
  /** Waits that many seconds, then resolves to true. If the signal aborts, resolves to false immediately. */
  wait(seconds: number, signal: AbortSignal): Promise<boolean>;
  /** Returns a random number from 0 up to, but not including, 1. */
  random(): number;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  random: () => Math.random(),
  wait: (seconds, signal) =>
    new Promise((done) => {
      if (signal.aborted) return done(false);
      const end = (whole: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", aborted);
        done(whole);
      };
      const aborted = () => end(false);
      const timer = setTimeout(() => end(true), seconds * 1000);
      signal.addEventListener("abort", aborted, { once: true });
    }),
};

/** Maximum number of requests for one send, including the first one. */
export const MOST_TRIES = 6;

/** Seconds after the first request within which retries are made. */
const LONGEST = 600;

/** Seconds before the second attempt if the provider names none; each later wait is twice as long. */
const FIRST_WAIT = 2;

export class Patience {
  readonly #clock: Clock;
  readonly #begun: number;
  #tries = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#begun = clock.now();
  }

  get tries(): number {
    return this.#tries;
  }

  /**
   * Returns the seconds to wait before a retry. `wait` is null if retrying cannot help, attempts are used up, or the
   * wait would exceed the limit. In the last two cases `tried` is the explanation.
   */
  next({ retry }: ProviderError): { readonly wait: number | null; readonly tried: string | null } {
    if (retry === undefined) return { wait: null, tried: null };
    const elapsed = (this.#clock.now() - this.#begun) / 1000;
    const tried = `Tried ${this.#tries} times in ${formatDuration(elapsed)}.`;
    if (this.#tries >= Math.min(MOST_TRIES, (retry.most ?? MOST_TRIES) + 1)) return { wait: null, tried };
    // The wait is random in part, because clients that failed at the same time must not all retry at the same time.
    const own = FIRST_WAIT * 2 ** (this.#tries - 1) * (0.75 + this.#clock.random() / 2);
    const asked = retry.after !== null && retry.after > 0;
    const wait = asked ? retry.after : own;
    if (elapsed + wait > LONGEST) {
      const longer = asked ? [`The provider asks for a wait of ${formatDuration(wait)}.`] : [];
      return { wait: null, tried: [...this.#tries === 1 ? [] : [tried], ...longer].join(" ") };
    }
    this.#tries++;
    return { wait, tried: null };
  }
}

/** Formats a duration for people: `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const [large, small, rest] = whole < 3600
    ? [`${Math.floor(whole / 60)} min`, "s", whole % 60]
    : [`${Math.floor(whole / 3600)} h`, "min", Math.floor(whole % 3600 / 60)];
  return rest === 0 ? large : `${large} ${rest} ${small}`;
}
