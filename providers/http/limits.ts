// Time limits and cancellation of a request.
//
// `fetch` reports headers, not the connection, and a server may hold back its headers until the model starts. So
// `network.ts` tests separately whether the host accepts connections. Once it does, only silence counts: a reply may
// take any time as long as data arrives. Pings extend the limit, but not without end: a server that only pings is
// stuck.

import { afterSilence } from "../../base/system/timer.ts";
import type { ProviderError, ProviderRequest } from "../types.ts";
import { urlHost } from "./endpoint.ts";
import { providerError } from "./errors.ts";
import type { HttpProxy } from "./proxy.ts";

export interface LimitOptions {
  readonly request: ProviderRequest;
  /**
   * Seconds without any data after which the request is canceled. Headers, a part of the reply and a ping are data. 0
   * means no limit.
   */
  readonly timeout: number;
  /**
   * Seconds without a part of the reply after which the request is canceled, even if pings arrive. 0 means no limit.
   */
  readonly pingTimeout: number;
  /** Seconds in which the host must accept the connection; 0 means no limit. */
  readonly connectTimeout: number;
  /** Tests whether the host accepts connections; resolves to false if that cannot be determined. */
  readonly reach?: (url: string, signal: AbortSignal) => Promise<boolean>;
  readonly proxy?: HttpProxy | null;
  readonly signal: AbortSignal;
}

/** Combines all reasons to stop a request early into one signal. */
export class RequestTimeouts {
  readonly #controller = new AbortController();
  readonly #options: LimitOptions;
  /** Time since any data arrived. */
  readonly #silence: Silence;
  /** Measures the time since a part of the reply arrived. */
  readonly #pings: Silence;
  #endConnecting = (): void => {};
  #expired: ProviderError | null = null;

  constructor(options: LimitOptions) {
    this.#options = options;
    const { request, timeout, pingTimeout } = options;
    const host = urlHost(request.url);
    this.#watchConnection(options);
    this.#silence = new Silence(timeout, () =>
      this.#expire(
        `${host} sent nothing for ${timeout} s, so the request was stopped.`,
        "Raise the parameter timeout if the model needs longer.",
      ));
    this.#pings = new Silence(pingTimeout, () =>
      this.#expire(
        `${host} sent only pings for ${pingTimeout} s and nothing of the reply, so the request was stopped.`,
        "Raise the parameter timeout if the model needs longer; with pings, the limit is six times that.",
      ));
    options.signal.addEventListener("abort", this.#cancel, { once: true });
    if (options.signal.aborted) this.#cancel();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Records that data arrived, so the host is connected. */
  arrived(): void {
    this.#endConnecting();
    this.#silence.end();
  }

  /** Records that part of the reply arrived. */
  replied(): void {
    this.#pings.end();
  }

  /**
   * Waits for work of this program. During the wait nothing is read, so its duration does not count as silence of the
   * server.
   */
  async unheard(here: Promise<void>): Promise<void> {
    const silences = [this.#silence, this.#pings];
    for (const silence of silences) silence.unheard = true;
    await here;
    for (const silence of silences) {
      silence.unheard = false;
      silence.end();
    }
  }

  expired(): ProviderError | null {
    return this.#expired;
  }

  clear(): void {
    this.#endConnecting();
    this.#silence.forget();
    this.#pings.forget();
    this.#options.signal.removeEventListener("abort", this.#cancel);
    // Aborting also ends the test whether the host accepts connections.
    this.#controller.abort();
  }

  readonly #cancel = (): void => this.#controller.abort();

  #watchConnection({ connectTimeout, reach, request, proxy = null }: LimitOptions): void {
    if (reach === undefined) return;
    const who = proxy === null ? urlHost(request.url) : `The proxy ${proxy.host} (from ${proxy.variable})`;
    if (connectTimeout > 0) {
      this.#endConnecting = afterSilence(connectTimeout * 1000, () => {
        this.#expire(
          `${who} did not accept a connection within ${connectTimeout} s.`,
          "Check the connection, or raise the parameter connect_timeout.",
        );
      });
    }
    // From here on, the host was reached or the test was inconclusive. The request itself reports errors, and only the
    // limits on silence apply.
    reach(proxy?.url ?? request.url, this.#controller.signal).then(() => this.#endConnecting());
  }

  #expire(message: string, next: string): void {
    this.#expired ??= providerError("timeout", message, { next });
    this.#controller.abort();
  }
}

/** Calls back once after `limit` seconds without data. If the limit is 0, it never calls back. */
class Silence {
  readonly #limit: number;
  readonly #tell: () => void;
  unheard = false;
  #since = performance.now();
  #forget = (): void => {};

  constructor(limit: number, tell: () => void) {
    this.#limit = limit;
    this.#tell = tell;
    this.#watch(limit);
  }

  /** Sets the time without data back to zero, because data arrived. */
  end(): void {
    this.#since = performance.now();
  }

  forget(): void {
    this.#forget();
  }

  /**
   * The time is checked again instead of restarting a timer for each piece, because a reply may have a million pieces.
   */
  #watch(seconds: number): void {
    if (this.#limit <= 0) return;
    this.#forget = afterSilence(seconds * 1000, () => {
      const silent = this.unheard ? 0 : (performance.now() - this.#since) / 1000;
      if (silent < this.#limit) this.#watch(this.#limit - silent);
      else this.#tell();
    });
  }
}
