// A clock that stands still until it is advanced, for code that waits.

import type { Clock } from "../../providers/http/patience.ts";

export class StoppedClock implements Clock {
  seconds = 0;
  chance = 0.5;
  /** Seconds that were waited for. */
  readonly waits: number[] = [];
  /** Told of each wait before it ends. */
  onWait: (seconds: number) => void = () => {};

  now(): number {
    return this.seconds * 1000;
  }

  date(): Date {
    return new Date(Date.parse("2026-11-28T12:00:00Z") + this.seconds * 1000);
  }

  random(): number {
    return this.chance;
  }

  wait(seconds: number, signal: AbortSignal): Promise<boolean> {
    this.waits.push(seconds);
    this.onWait(seconds);
    this.seconds += seconds;
    return Promise.resolve(!signal.aborted);
  }
}
