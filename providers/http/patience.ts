// How often and how long a request is tried again: at most six tries and ten minutes, for what may be over later.

import type { ProviderError } from "../types.ts";

/** Time as a run sees it. */
export interface Clock {
  /** Milliseconds that only ever grow. */
  now(): number;
  /** The date and time of day. */
  date(): Date;
  /** Settles after so many seconds with true; with false, at once, when the signal aborts. */
  wait(seconds: number, signal: AbortSignal): Promise<boolean>;
  /** A number from 0 up to 1. */
  random(): number;
}

/** The time of this machine. */
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

/** Requests that are made for one send, the first among them. */
export const MOST_TRIES = 6;

/** Seconds from the first request after which no further one is made. */
const LONGEST = 600;

/** Seconds before the second try, where the provider names none; each further wait is twice as long. */
const FIRST_WAIT = 2;

/** The tries of one send. */
export class Patience {
  readonly #clock: Clock;
  readonly #begun: number;
  #tries = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#begun = clock.now();
  }

  /** Requests that were made. */
  get tries(): number {
    return this.#tries;
  }

  /**
   * Seconds to wait before the request is made once more. Null when it is not: it would not help, or it was done often
   * enough, or the provider asks for a longer wait than a person would sit through, which `tried` then says.
   */
  next({ retry }: ProviderError): { readonly wait: number | null; readonly tried: string | null } {
    if (retry === undefined) return { wait: null, tried: null };
    const elapsed = (this.#clock.now() - this.#begun) / 1000;
    const tried = `Tried ${this.#tries} times in ${inWords(elapsed)}.`;
    if (this.#tries >= MOST_TRIES) return { wait: null, tried };
    // Many who failed at one moment should not come back at one moment.
    const own = FIRST_WAIT * 2 ** (this.#tries - 1) * (0.75 + this.#clock.random() / 2);
    const asked = retry.after !== null && retry.after > 0;
    const wait = asked ? retry.after : own;
    if (elapsed + wait > LONGEST) {
      const longer = asked ? [`The provider asks to wait ${inWords(wait)}.`] : [];
      return { wait: null, tried: [...this.#tries === 1 ? [] : [tried], ...longer].join(" ") };
    }
    this.#tries++;
    return { wait, tried: null };
  }
}

/** A time for people: `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function inWords(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const [large, small, rest] = whole < 3600
    ? [`${Math.floor(whole / 60)} min`, "s", whole % 60]
    : [`${Math.floor(whole / 3600)} h`, "min", Math.floor(whole % 3600 / 60)];
  return rest === 0 ? large : `${large} ${rest} ${small}`;
}
