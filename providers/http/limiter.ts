// The limit on parallel requests for each provider key, shared by all documents of a process. It combines the person's
// setting with a window that shrinks when the provider refuses requests. Requests that wait form a line.

import type { ProviderError } from "../types.ts";
import type { Clock } from "./patience.ts";

interface Server {
  running: number;
  /** Maximum number of parallel requests after refusals. It grows by one with each answered request. */
  window: number;
  /** Clock time in milliseconds before which no request is sent. */
  pausedUntil: number;
  /** Requests that wait, by their number in the line, with callbacks that wake them. */
  readonly line: Map<number, () => void>;
}

/** A place among the requests in progress. */
export interface RequestPlace {
  /** Number in the line. With it, a refused request waits in front of requests that came later. */
  readonly ticket: number;
  /**
   * Frees the place for the next request.
   *
   * @param outcome `answered` if the provider accepted the request, `refused` if it reported too many requests,
   * `neither` otherwise
   * @param pause seconds during which the provider wants no requests; only with `refused`
   */
  leave(outcome: "answered" | "refused" | "neither", pause?: number): void;
}

/** What a request waits for because the provider refused others. */
export interface LineWait {
  /** Seconds until the provider accepts requests again; 0 if this time is over or unknown. */
  readonly seconds: number;
  /** Number of requests in front. */
  readonly ahead: number;
}

/** How a request enters the line. */
export interface EnterOptions {
  /** Maximum of parallel requests from the settings; null means no limit. */
  readonly most: number | null;
  /** Measures pauses. */
  readonly clock: Clock;
  /** Cancels the wait. */
  readonly signal: AbortSignal;
  /** Number in the line that an earlier place of the same request had. @default the end of the line */
  readonly ticket?: number;
  /** Called once if the request must wait because the provider refused others. */
  readonly onWait?: (wait: LineWait) => void;
}

/** Limits the parallel requests of everything that uses the same keys. There is one instance per process. */
export class RequestLimiter {
  readonly #servers = new Map<string, Server>();
  #tickets = 0;
  /** Models that could not answer, as `PROVIDER/MODEL`: the error, and the clock time until which they are skipped. */
  readonly troubles: Map<string, { readonly error: ProviderError; readonly until: number }> = new Map();

  /**
   * Waits until one more request may be sent. Requests are admitted in the order in which they came.
   *
   * @param key identifies the server and the account
   * @returns the place; null if the signal aborted
   */
  async enter(
    key: string,
    { most, clock, signal, ticket = this.#tickets++, onWait }: EnterOptions,
  ): Promise<RequestPlace | null> {
    const server = this.#serverOf(key);
    let reported = false;
    server.line.set(ticket, () => {});
    try {
      for (;;) {
        if (signal.aborted) return null;
        const pause = server.pausedUntil - clock.now();
        const ahead = [...server.line.keys()].filter((other) => other < ticket).length;
        const isFull = server.running >= Math.min(server.window, most ?? Infinity);
        if (!reported && (pause > 0 || (server.window < Infinity && (isFull || ahead > 0)))) {
          reported = true;
          onWait?.({ seconds: Math.max(0, pause) / 1000, ahead });
        }
        if (pause > 0) {
          if (!await clock.wait(pause / 1000, signal)) return null;
        } else if (ahead === 0 && !isFull) {
          server.running++;
          return { ticket, leave: once((outcome, pause) => this.#leave(server, clock, outcome, pause)) };
        } else await turn(server, ticket, signal);
      }
    } finally {
      server.line.delete(ticket);
      wakeAll(server);
    }
  }

  #serverOf(key: string): Server {
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const server = {
      running: 0,
      window: Infinity,
      pausedUntil: -Infinity,
      line: new Map<number, () => void>(),
    };
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
    wakeAll(server);
  }
}

function wakeAll(server: Server): void {
  for (const wake of server.line.values()) wake();
}

/** Waits until the line moves or the signal aborts. */
function turn(server: Server, ticket: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const wake = () => {
      signal.removeEventListener("abort", wake);
      done();
    };
    server.line.set(ticket, wake);
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
