// One POST over `fetch` with its streamed response: cancellation, time limits and distinct errors.

import { providerError } from "./errors.ts";
import { type LimitOptions, RequestTimeouts } from "./limits.ts";
import { isPing } from "./ping.ts";
import { transportError } from "./transport_error.ts";
import { createSseReader } from "./sse.ts";
import { bodyBytes } from "./body.ts";
import { urlHost } from "./endpoint.ts";
import type { ProviderError } from "../types.ts";

export interface PostOptions extends LimitOptions {
  readonly fetch?: typeof fetch;
  /** Called with the decoded data of each event; `stop` ends reading. */
  onEvent(data: object, headers: Headers, source: string): "stop" | "more";
  /** Called with each piece of data that is not JSON, except `[DONE]`. */
  onUnreadable(data: string): void;
  /** Awaited before more is read, so that the consumer of events keeps up. @default nothing is awaited */
  room?(): Promise<void> | undefined;
  /** Called for `[DONE]`, which ends some streams. */
  onDone?(headers: Headers): "stop" | "more";
}

export type Exchange =
  /** The stream ended, or `stop` ended it; `lines` are the lines that were not SSE. */
  | { readonly kind: "stream"; readonly headers: Headers; readonly lines: readonly string[] }
  /** The response was not a stream, or its status is an error. */
  | { readonly kind: "body"; readonly headers: Headers; readonly status: number; readonly text: string }
  | { readonly kind: "failed"; readonly error: ProviderError }
  | { readonly kind: "cancelled" };

/** Maximum bytes read from a body that is not a stream; a message for people is shorter. */
const BODY_LIMIT = 1 << 20;

/** Maximum bytes read from a body that may be a whole reply instead of a stream. */
const REPLY_LIMIT = 1 << 25;

/** Sends the request and reads the response. Network errors are returned, never thrown. */
export async function post(options: PostOptions): Promise<Exchange> {
  const limits = new RequestTimeouts(options);
  try {
    return await exchange(options, limits);
  } catch (thrown) {
    if (options.signal.aborted) return { kind: "cancelled" };
    return { kind: "failed", error: limits.expired() ?? transportError(thrown, options) };
  } finally {
    limits.clear();
  }
}

async function exchange(options: PostOptions, limits: RequestTimeouts): Promise<Exchange> {
  const { request } = options;
  const answer = await answerOf(options.fetch, limits.signal, [request.url, {
    method: request.method,
    headers: { ...request.headers },
    body: bodyBytes(request),
    redirect: "manual",
    signal: limits.signal,
  }]);
  if (!isResponse(answer)) {
    const next = "Correct this function of the program.";
    const message = "The option fetch answered without a Response.";
    return { kind: "failed", error: providerError("network", message, { next }) };
  }
  const response = answer;
  limits.arrived();
  const { headers, status } = response;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    const target = headers.get("location") ?? "another address";
    const next = "Set the base URL to an address that does not redirect.";
    const message = `${
      urlHost(request.url)
    } redirects to ${target} (HTTP ${status}); redirects are not followed.`;
    return { kind: "failed", error: providerError("network", message, { next }) };
  }
  if (status >= 400 || !isEventStream(headers)) {
    const most = status >= 400 ? BODY_LIMIT : REPLY_LIMIT;
    return { kind: "body", headers, status, text: await readBody(response, limits, most) };
  }
  return { kind: "stream", headers, lines: await readStream(response, options, limits) };
}

/** Calls `fetch`. A host's function may ignore the signal, so its answer is not awaited once the signal aborts. */
async function answerOf(
  own: typeof fetch | undefined,
  signal: AbortSignal,
  given: Parameters<typeof fetch>,
): Promise<unknown> {
  if (own === undefined) return await fetch(...given);
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([own(...given), promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** True for a response of this or another implementation of `fetch`. */
function isResponse(answer: unknown): answer is Response {
  return typeof answer === "object" && answer !== null && "status" in answer && "headers" in answer &&
    "body" in answer && typeof (answer.headers as Headers | null)?.get === "function";
}

/**
 * True if the response may be a stream. A missing type and plain text are accepted too, because the lines show whether
 * it is a stream.
 */
function isEventStream(headers: Headers): boolean {
  const type = headers.get("content-type");
  return type === null || /^text\/(?:event-stream|plain)\b/i.test(type.trim());
}

async function readStream(
  response: Response,
  options: PostOptions,
  limits: RequestTimeouts,
): Promise<readonly string[]> {
  const lines: string[] = [];
  let strayed = 0;
  let heard = false;
  let stopped = false;
  const reader = createSseReader({
    onData(data) {
      heard = true;
      if (stopped || SAYS_NOTHING.test(data)) return;
      if (DONE.test(data)) {
        stopped = options.onDone?.(response.headers) === "stop";
        return;
      }
      const event = decodeEvent(data);
      if (event === null || !isPing(event)) limits.replied();
      if (event === null) options.onUnreadable(data);
      else stopped = options.onEvent(event, response.headers, data) === "stop";
    },
    onLine(line) {
      if (strayed < BODY_LIMIT) lines.push(line);
      strayed += line.length;
    },
  });
  if (response.body === null) return lines;
  const body = readerOf(response.body);
  try {
    // Reading stops at the limit if no event has arrived: such a body is not an event stream, and it may be endless.
    while (!stopped && (heard || strayed < BODY_LIMIT)) {
      const value = await body.read();
      if (value === null) break;
      limits.arrived();
      reader.feed(value);
      const room = options.room?.();
      if (room !== undefined) await limits.unheard(room);
    }
  } finally {
    // After the closing event or a read error, the rest of the connection does not matter.
    await body.cancel().catch(() => undefined);
  }
  if (!stopped) reader.end();
  return lines;
}

const READ_BYTES = 1 << 16;

/** Reads a body piece by piece. A piece is valid until the next one is read; null means the end of the body. */
interface BodyReader {
  read(): Promise<Uint8Array | null>;
  cancel(): Promise<void>;
}

/**
 * Reads a body into one buffer, which is reused: a new buffer for each small event would be garbage that is collected
 * late. If the body is not a byte stream, for instance because a program made it from a list, uses a plain reader.
 */
function readerOf(body: ReadableStream<Uint8Array>): BodyReader {
  const byob = byobReader(body);
  if (byob === null) {
    const reader = body.getReader();
    return {
      read: async () => (await reader.read()).value ?? null,
      cancel: () => reader.cancel(),
    };
  }
  let buffer = new ArrayBuffer(READ_BYTES);
  return {
    async read() {
      const { value } = await byob.read(new Uint8Array(buffer));
      if (value === undefined || value.length === 0) return null;
      buffer = value.buffer;
      return value;
    },
    cancel: () => byob.cancel(),
  };
}

function byobReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch (thrown) {
    // The body is not a byte stream.
    if (thrown instanceof TypeError) return null;
    throw thrown;
  }
}

const SAYS_NOTHING = /^\s*(?:null)?\s*$/;

const DONE = /^\s*\[DONE\]\s*$/;

/** Parses the JSON object or array of an event; null for anything else. */
function decodeEvent(data: string): object | null {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

async function readBody(response: Response, limits: RequestTimeouts, most: number): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  const body = response.body.getReader();
  let text = "";
  for (let size = 0; size < most;) {
    const { done, value } = await body.read();
    if (done) return text + decoder.decode();
    limits.arrived();
    size += value.length;
    const piece = decoder.decode(value, { stream: true });
    // While a gateway waits for the reply, it may send whitespace, which is not part of the reply.
    if (/\S/.test(piece)) limits.replied();
    text += piece;
  }
  await body.cancel();
  return text;
}
