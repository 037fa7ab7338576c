// The limit on parallel requests for each provider key, shared by all documents of a process. It combines the person's
// setting with a window that shrinks when the provider refuses requests.

import type { Clock } from "./patience.ts";

interface Server {
  running: number;
  /** Maximum number of parallel requests after refusals. It grows by one with each answered request. */
  window: number;
  /** Clock time in milliseconds before which no request is sent. */
  pausedUntil: number;
  /** Callbacks of requests that wait for a place, in order of arrival. */
  readonly waiting: Set<() => void>;
}

/** A place among the requests in progress. */
export interface RequestPlace {
  /**
   * Frees the place for the next request.
   *
   * @param outcome `answered` if the provider accepted the request, `refused` if it reported too many requests,
   * `neither` otherwise
   * @param pause seconds during which the provider wants no requests; only with `refused`
   */
  leave(outcome: "answered" | "refused" | "neither", pause?: number): void;
}

/** Limits the parallel requests of everything that uses the same keys. There is one instance per process. */
export class RequestLimiter {
  readonly #servers = new Map<string, Server>();

  /**
   * Waits until one more request may be sent.
   *
   * @param key identifies the server and the account
   * @param most maximum of parallel requests from the settings; null means no limit
   * @param clock measures pauses
   * @param signal cancels the wait
   * @returns the place; null if the signal aborted
   */
  async enter(
    key: string,
    { most, clock, signal }: {
      readonly most: number | null;
      readonly clock: Clock;
      readonly signal: AbortSignal;
    },
  ): Promise<RequestPlace | null> {
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

  #leave(server: Server, clock: Clock, outcome: Parameters<RequestPlace["leave"]>[0], pause = 0): void {
    if (outcome === "refused") {
      // The number of parallel requests is halved, as in network congestion control. Of several refusals within one
      // pause, only the first does this.
      if (clock.now() >= server.pausedUntil) server.window = Math.max(1, Math.floor(server.running / 2));
      server.pausedUntil = Math.max(server.pausedUntil, clock.now() + pause * 1000);
    } else if (outcome === "answered") server.window++;
    server.running--;
    for (const wake of server.waiting) wake();
  }
}

/** Waits until a place is freed or the signal aborts. */
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

/** Returns a function that ignores a second call, because freeing a place twice would admit two requests. */
function once(leave: RequestPlace["leave"]): RequestPlace["leave"] {
  let left = false;
  return (outcome, pause) => {
    if (left) return;
    left = true;
    leave(outcome, pause);
  };
}
