// How many requests a provider gets at a time: the person's limit, and what its own refusals teach, for all documents
// of one process. A provider that says "too many" says it to everybody who asks with the same key.

import type { Clock } from "./patience.ts";

/** What one server is asked. */
interface Server {
  /** Requests that are under way. */
  running: number;
  /** How many there may be after it refused some; it grows again with each answer. */
  window: number;
  /** Milliseconds of the clock before which nothing is asked. */
  pausedUntil: number;
  /** Those who wait for a place, the first come first. */
  readonly waiting: Set<() => void>;
}

/** A place among the requests that are under way. */
export interface Place {
  /**
   * Gives the place to the next one.
   *
   * @param outcome `answered` when the provider took the request, `refused` when it said that there are too many,
   * `neither` when it said nothing of that kind
   * @param pause seconds in which it wants to hear nothing; only of a refusal
   */
  leave(outcome: "answered" | "refused" | "neither", pause?: number): void;
}

/** Shared by everything that asks with the same keys: one for a process. */
export class RequestLimiter {
  readonly #servers = new Map<string, Server>();

  /**
   * Waits until one more request may be made.
   *
   * @param key names the server and who asks it
   * @param most requests at a time by the person's word; null is no limit
   * @param clock measures pauses
   * @param signal ends the waiting
   * @returns the place; null when the signal aborted
   */
  async enter(
    key: string,
    { most, clock, signal }: {
      readonly most: number | null;
      readonly clock: Clock;
      readonly signal: AbortSignal;
    },
  ): Promise<Place | null> {
    const server = this.#serverOf(key);
    for (;;) {
      if (signal.aborted) return null;
      const pause = server.pausedUntil - clock.now();
      if (pause > 0) {
        if (!await clock.wait(pause / 1000, signal)) return null;
      } else if (server.running < Math.min(server.window, most ?? Infinity)) {
        server.running++;
        return { leave: once((outcome, pause) => this.#leave(server, clock, outcome, pause)) };
      } else await turn(server, signal);
    }
  }

  #serverOf(key: string): Server {
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const server = { running: 0, window: Infinity, pausedUntil: -Infinity, waiting: new Set<() => void>() };
    this.#servers.set(key, server);
    return server;
  }

  #leave(server: Server, clock: Clock, outcome: Parameters<Place["leave"]>[0], pause = 0): void {
    if (outcome === "refused") {
      // Half of what was too much, as a network does it; those refused in the same moment count once.
      if (clock.now() >= server.pausedUntil) server.window = Math.max(1, Math.floor(server.running / 2));
      server.pausedUntil = Math.max(server.pausedUntil, clock.now() + pause * 1000);
    } else if (outcome === "answered") server.window++;
    server.running--;
    for (const wake of server.waiting) wake();
  }
}

/** Waits until somebody leaves. */
function turn(server: Server, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const wake = () => {
      server.waiting.delete(wake);
      signal.removeEventListener("abort", wake);
      done();
    };
    server.waiting.add(wake);
    signal.addEventListener("abort", wake, { once: true });
  });
}

/** A place that is left twice would let two in. */
function once(leave: Place["leave"]): Place["leave"] {
  let left = false;
  return (outcome, pause) => {
    if (left) return;
    left = true;
    leave(outcome, pause);
  };
}
