// The retry policy for temporary errors: at most six attempts within ten minutes, and longer waits for limits if the
// person allows them.

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

/** Longest wait in seconds between two attempts if the provider names none. */
const LONGEST_OWN_WAIT = 300;

/** The seconds that one run may wait in total for limits and outages of providers. */
export class WaitBudget {
  readonly #most: number;
  #waited = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Starts another run, which has not waited yet. */
  begin(): void {
    this.#waited = 0;
  }

  /** Seconds that the run may still wait. */
  get left(): number {
    return Math.max(0, this.#most - this.#waited);
  }

  take(seconds: number): void {
    this.#waited += seconds;
  }
}

/** Whether to repeat a request. */
export interface NextTry {
  /** Seconds to wait before the next attempt; null if there is none. */
  readonly wait: number | null;
  /** Maximum number of attempts; null if only the time that the person allows limits them. */
  readonly of: number | null;
  /** Explains why there is no other attempt although the error is temporary; null if there is nothing to explain. */
  readonly tried: string | null;
}

export class Patience {
  readonly #clock: Clock;
  readonly #begun: number;
  readonly #budget: WaitBudget;
  #tries = 1;

  /** `budget` is what the run may wait beyond the usual attempts. */
  constructor(clock: Clock, { budget = new WaitBudget(0) }: { readonly budget?: WaitBudget } = {}) {
    this.#clock = clock;
    this.#begun = clock.now();
    this.#budget = budget;
  }

  get tries(): number {
    return this.#tries;
  }

  /**
   * Decides whether the request is repeated after an error, and counts the attempt and the wait. Usual attempts need no
   * budget. Waits for limits and outages use it up, and it allows more of them.
   *
   * @param few maximum number of attempts, without the budget. @default the usual number, and more by the budget
   */
  next({ retry }: ProviderError, few?: number): NextTry {
    if (retry === undefined) return { wait: null, of: null, tried: null };
    const elapsed = (this.#clock.now() - this.#begun) / 1000;
    // The wait is random in part, because clients that failed at the same time must not all retry at the same time.
    const own = Math.min(LONGEST_OWN_WAIT, FIRST_WAIT * 2 ** (this.#tries - 1)) *
      (0.75 + this.#clock.random() / 2);
    const asked = retry.after !== null && retry.after > 0;
    const wait = asked ? retry.after : own;
    const most = Math.min(few ?? MOST_TRIES, (retry.most ?? MOST_TRIES) + 1);
    const mayWait = few === undefined && retry.trouble !== undefined && wait <= this.#budget.left;
    const isUsual = this.#tries < most && elapsed + wait <= LONGEST;
    if (!isUsual && !mayWait) {
      const tried = `Tried ${this.#tries} times in ${formatDuration(elapsed)}.`;
      const longer = `The provider asks for a wait of ${formatDuration(wait)}.`;
      if (this.#tries >= most) return { wait: null, of: null, tried };
      const words = [...this.#tries === 1 ? [] : [tried], ...asked ? [longer] : []];
      return { wait: null, of: null, tried: words.join(" ") };
    }
    this.#tries++;
    if (retry.trouble !== undefined) this.#budget.take(wait);
    return { wait, of: mayWait ? null : most, tried: null };
  }
}

/** Returns the time in so many seconds, in UTC, as `2026-11-28T12:30:00Z`. */
export function timeIn(seconds: number, clock: Clock): string {
  return new Date(Math.ceil(clock.date().getTime() / 1000 + seconds) * 1000).toISOString()
    .replace(/\.\d+Z$/, "Z");
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
