// One POST and its streamed answer over `fetch`: limits of time, cancelling, and errors told apart.
//
// `fetch` shows when headers arrive, not when a connection stands, and a server may hold its headers back
// until the model starts. The limit until then is therefore a multiple of `connectTimeout`.

import { thrownText } from "../../base/problem.ts";
import { providerError } from "./errors.ts";
import { createSseReader } from "./sse.ts";
import type { ProviderError, ProviderRequest } from "../types.ts";

export interface PostOptions {
  readonly request: ProviderRequest;
  /** Seconds for the whole exchange. */
  readonly timeout: number;
  /** Seconds; headers may take `HEADERS_FACTOR` times as long. */
  readonly connectTimeout: number;
  /** The caller's cancel. */
  readonly signal: AbortSignal;
  readonly fetch?: typeof fetch;
  /** Called with the decoded data of each event; `stop` ends the exchange, nothing more is read. */
  onEvent(data: object, headers: Headers): "stop" | "more";
}

/** How an exchange ended. */
export type Exchange =
  /** The stream ended by itself or by `stop`; `lines` are those that were no SSE. */
  | { readonly kind: "stream"; readonly headers: Headers; readonly lines: readonly string[] }
  /** The answer was no stream, or its status says failure. */
  | { readonly kind: "body"; readonly headers: Headers; readonly status: number; readonly text: string }
  | { readonly kind: "failed"; readonly error: ProviderError }
  | { readonly kind: "cancelled" };

/** Headers may take this many times `connectTimeout`. */
export const HEADERS_FACTOR = 6;

/** Bytes of a body that is no stream; more than that is no message for a person. */
const BODY_LIMIT = 1 << 20;

/** Sends the request and reads the answer. Never throws for what the network does. */
export async function post(options: PostOptions): Promise<Exchange> {
  const limits = new Limits(options);
  try {
    return await exchange(options, limits);
  } catch (thrown) {
    if (options.signal.aborted) return { kind: "cancelled" };
    return { kind: "failed", error: limits.expired() ?? transportError(thrown, options.request.url) };
  } finally {
    limits.clear();
  }
}

async function exchange(options: PostOptions, limits: Limits): Promise<Exchange> {
  const { request } = options;
  const response = await (options.fetch ?? fetch)(request.url, {
    method: request.method,
    headers: { ...request.headers },
    body: request.body,
    redirect: "manual",
    signal: limits.signal,
  });
  limits.headersArrived();
  const { headers, status } = response;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    const target = headers.get("location") ?? "another address";
    const next = "Set the base URL to the address that answers itself.";
    const message = `${
      hostOf(request.url)
    } redirects to ${target} (HTTP ${status}); redirects are not followed.`;
    return { kind: "failed", error: providerError("network", message, { next }) };
  }
  if (status >= 400 || !isEventStream(headers)) {
    return { kind: "body", headers, status, text: await readBody(response) };
  }
  return { kind: "stream", headers, lines: await readStream(response, options) };
}

/** A stream without a type is taken as one: its lines tell soon enough. */
function isEventStream(headers: Headers): boolean {
  const type = headers.get("content-type");
  return type === null || /^text\/event-stream\b/i.test(type.trim());
}

async function readStream(response: Response, options: PostOptions): Promise<readonly string[]> {
  const lines: string[] = [];
  let stopped = false;
  const reader = createSseReader({
    onData(data) {
      const event = stopped ? null : decodeEvent(data);
      if (event !== null) stopped = options.onEvent(event, response.headers) === "stop";
    },
    onLine: (line) => lines.push(line),
  });
  if (response.body === null) return lines;
  const body = response.body.getReader();
  try {
    while (!stopped) {
      const { done, value } = await body.read();
      if (done) break;
      reader.feed(value);
    }
  } finally {
    // The closing event was seen or reading failed: whatever else the connection holds is of no interest.
    await body.cancel().catch(() => undefined);
  }
  if (!stopped) reader.end();
  return lines;
}

/** Data that is no JSON object or list says nothing to us (`[DONE]`, a stray word) and is passed over. */
function decodeEvent(data: string): object | null {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

async function readBody(response: Response): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  const body = response.body.getReader();
  let text = "";
  for (let size = 0; size < BODY_LIMIT;) {
    const { done, value } = await body.read();
    if (done) return text + decoder.decode();
    size += value.length;
    text += decoder.decode(value, { stream: true });
  }
  await body.cancel();
  return text;
}

/** The three reasons to stop an exchange before its end, in one signal. */
class Limits {
  readonly #controller = new AbortController();
  readonly #timers: ReturnType<typeof setTimeout>[] = [];
  readonly #options: PostOptions;
  readonly #headers: ReturnType<typeof setTimeout>;
  #expired: ProviderError | null = null;

  constructor(options: PostOptions) {
    this.#options = options;
    const headers = Math.min(options.timeout, options.connectTimeout * HEADERS_FACTOR);
    this.#headers = this.#after(
      headers,
      `${
        hostOf(options.request.url)
      } did not answer within ${headers} s (connect_timeout ${options.connectTimeout} s).`,
      "Send again, or raise the parameter connect_timeout.",
    );
    this.#after(options.timeout, `The reply took longer than the timeout of ${options.timeout} s.`);
    options.signal.addEventListener("abort", this.#cancel, { once: true });
    if (options.signal.aborted) this.#cancel();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  headersArrived(): void {
    clearTimeout(this.#headers);
  }

  /** The error of the limit that was passed, if one was. */
  expired(): ProviderError | null {
    return this.#expired;
  }

  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#options.signal.removeEventListener("abort", this.#cancel);
  }

  readonly #cancel = (): void => this.#controller.abort();

  #after(seconds: number, message: string, next?: string): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => {
      this.#expired ??= providerError("timeout", message, next === undefined ? {} : { next });
      this.#controller.abort();
    }, seconds * 1000);
    this.#timers.push(timer);
    return timer;
  }
}

/** Tells apart what a runtime throws: Node gives codes in `cause`, Deno words in its message. */
export function transportError(thrown: unknown, url: string): ProviderError {
  const host = hostOf(url);
  const said = causes(thrown).join(" ");
  if (/ENOTFOUND|EAI_AGAIN|dns error|failed to lookup/i.test(said)) {
    return providerError("network", `The name of ${host} could not be resolved.`);
  }
  if (
    /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|connection refused|unreachable|\(Connect\)|are blocked/i.test(said)
  ) {
    return providerError("network", `${host} could not be reached: ${lastCause(thrown)}.`);
  }
  if (/TimeoutError|ETIMEDOUT|UND_ERR_\w*TIMEOUT|timed out/i.test(said)) {
    return providerError("timeout", `The connection to ${host} timed out.`);
  }
  return providerError("network", `The connection to ${host} broke: ${lastCause(thrown)}.`);
}

function causes(thrown: unknown): string[] {
  const said: string[] = [];
  for (let at: unknown = thrown, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    said.push(at.name, "code" in at ? String(at.code) : "", at.message);
  }
  return said.length > 0 ? said : [String(thrown)];
}

/** The innermost reason, which is the one that helps, without the address that is named already. */
function lastCause(thrown: unknown): string {
  let innermost = thrown;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  const words = thrownText(innermost).replace(/^error sending request for url \([^)]*\): /, "");
  return words.replace(/\.+$/, "");
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
