// How long an exchange may take, and who may end it.
//
// `fetch` shows when headers arrive, not when a connection stands, and a server may hold its headers back
// until the model starts. Whether the host takes connections is therefore asked beside it (`network.ts`). Once
// it does, only silence counts: a reply may take as long as it likes while something of it arrives. Pings say that
// somebody thinks, so they buy time; without end they do not, for then nobody does.

import { afterSilence } from "../../base/system/timer.ts";
import type { ProviderError, ProviderRequest } from "../types.ts";
import { hostOf } from "./endpoint.ts";
import { providerError } from "./errors.ts";
import type { Proxy } from "./proxy.ts";

/** What of an exchange its limits are about. */
export interface LimitOptions {
  readonly request: ProviderRequest;
  /** Seconds in which something must arrive, be it headers, a piece of the reply or a ping; 0 is no limit. */
  readonly timeout: number;
  /** Seconds in which something of the reply must arrive, which pings are not; 0 is no limit. */
  readonly pingTimeout: number;
  /** Seconds until the host must have taken the connection; 0 is no limit. */
  readonly connectTimeout: number;
  /** Whether the host can be connected to; settles when that is known, with false when it cannot be told. */
  readonly reach?: (url: string, signal: AbortSignal) => Promise<boolean>;
  /** What stands between here and the host. */
  readonly proxy?: Proxy | null;
  /** The caller's cancel. */
  readonly signal: AbortSignal;
}

/** The reasons to stop an exchange before its end, in one signal. */
export class Limits {
  readonly #controller = new AbortController();
  readonly #options: LimitOptions;
  /** Nothing at all came. */
  readonly #silence: Silence;
  /** Nothing of the reply came. */
  readonly #pings: Silence;
  #endConnecting = (): void => {};
  #expired: ProviderError | null = null;

  constructor(options: LimitOptions) {
    this.#options = options;
    const { request, timeout, pingTimeout } = options;
    const host = hostOf(request.url);
    this.#watchConnection(options);
    this.#silence = new Silence(timeout, () =>
      this.#expire(
        `Nothing came from ${host} for ${timeout} s, so the reply was given up.`,
        "Raise the parameter timeout if the model needs longer.",
      ));
    this.#pings = new Silence(pingTimeout, () =>
      this.#expire(
        `Only pings came from ${host} for ${pingTimeout} s, and nothing of the reply, so it was given up.`,
        "Raise the parameter timeout if the model needs longer: while pings come, it has six times that.",
      ));
    options.signal.addEventListener("abort", this.#cancel, { once: true });
    if (options.signal.aborted) this.#cancel();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Says that something came from the host, which is therefore connected and not silent. */
  arrived(): void {
    this.#endConnecting();
    this.#silence.end();
  }

  /** Says that something of the reply came. */
  replied(): void {
    this.#pings.end();
  }

  /** Waits for something here: while nobody listens, nothing is the server's silence. */
  async unheard(here: Promise<void>): Promise<void> {
    const silences = [this.#silence, this.#pings];
    for (const silence of silences) silence.unheard = true;
    await here;
    for (const silence of silences) {
      silence.unheard = false;
      silence.end();
    }
  }

  /** The error of the limit that was passed, if one was. */
  expired(): ProviderError | null {
    return this.#expired;
  }

  clear(): void {
    this.#endConnecting();
    this.#silence.forget();
    this.#pings.forget();
    this.#options.signal.removeEventListener("abort", this.#cancel);
    // Also ends the question whether the host can be reached.
    this.#controller.abort();
  }

  readonly #cancel = (): void => this.#controller.abort();

  #watchConnection({ connectTimeout, reach, request, proxy = null }: LimitOptions): void {
    if (reach === undefined) return;
    const who = proxy === null ? hostOf(request.url) : `The proxy ${proxy.host} (from ${proxy.variable})`;
    if (connectTimeout > 0) {
      this.#endConnecting = afterSilence(connectTimeout * 1000, () => {
        this.#expire(
          `${who} took no connection within ${connectTimeout} s.`,
          "Check the connection; the parameter connect_timeout sets the limit.",
        );
      });
    }
    // Reached, or not to be told: then the request itself says what is wrong, and silence is the limit.
    reach(proxy?.url ?? request.url, this.#controller.signal).then(() => this.#endConnecting());
  }

  #expire(message: string, next: string): void {
    this.#expired ??= providerError("timeout", message, { next });
    this.#controller.abort();
  }
}

/** Tells once that something did not come for so many seconds; never where they are 0. */
class Silence {
  readonly #limit: number;
  readonly #tell: () => void;
  /** Nobody listens at the moment. */
  unheard = false;
  #since = performance.now();
  #forget = (): void => {};

  constructor(limit: number, tell: () => void) {
    this.#limit = limit;
    this.#tell = tell;
    this.#watch(limit);
  }

  /** It came: silence begins anew. */
  end(): void {
    this.#since = performance.now();
  }

  forget(): void {
    this.#forget();
  }

  /** Looks again after so many seconds: each piece of a reply puts the end off, and there may be a million of them. */
  #watch(seconds: number): void {
    if (this.#limit <= 0) return;
    this.#forget = afterSilence(seconds * 1000, () => {
      const silent = this.unheard ? 0 : (performance.now() - this.#since) / 1000;
      if (silent < this.#limit) this.#watch(this.#limit - silent);
      else this.#tell();
    });
  }
}
