// One POST and its streamed answer over `fetch`: cancelling, limits of time, and errors told apart.

import { providerError } from "./errors.ts";
import { type LimitOptions, Limits } from "./limits.ts";
import { isPing } from "./ping.ts";
import { transportError } from "./transport_error.ts";
import { createSseReader } from "./sse.ts";
import { bodyBytes } from "./body.ts";
import { hostOf } from "./endpoint.ts";
import type { ProviderError } from "../types.ts";

export interface PostOptions extends LimitOptions {
  readonly fetch?: typeof fetch;
  /** Called with the decoded data of each event; `stop` ends the exchange, nothing more is read. */
  onEvent(data: object, headers: Headers, source: string): "stop" | "more";
  /** Called with each data of the stream that is no JSON, the usual `[DONE]` apart. */
  onUnreadable(data: string): void;
  /** Waited for before more is read, so that whoever takes the events is never far behind. @default nothing is waited for */
  room?(): Promise<void> | undefined;
  /** Called for `[DONE]`, with which some servers end a stream. */
  onDone?(headers: Headers): "stop" | "more";
}

/** How an exchange ended. */
export type Exchange =
  /** The stream ended by itself or by `stop`; `lines` are those that were no SSE. */
  | { readonly kind: "stream"; readonly headers: Headers; readonly lines: readonly string[] }
  /** The answer was no stream, or its status says failure. */
  | { readonly kind: "body"; readonly headers: Headers; readonly status: number; readonly text: string }
  | { readonly kind: "failed"; readonly error: ProviderError }
  | { readonly kind: "cancelled" };

/** Bytes of a body that is no stream; more than that is no message for a person. */
const BODY_LIMIT = 1 << 20;

/** Sends the request and reads the answer. Never throws for what the network does. */
export async function post(options: PostOptions): Promise<Exchange> {
  const limits = new Limits(options);
  try {
    return await exchange(options, limits);
  } catch (thrown) {
    if (options.signal.aborted) return { kind: "cancelled" };
    return { kind: "failed", error: limits.expired() ?? transportError(thrown, options) };
  } finally {
    limits.clear();
  }
}

async function exchange(options: PostOptions, limits: Limits): Promise<Exchange> {
  const { request } = options;
  const response = await (options.fetch ?? fetch)(request.url, {
    method: request.method,
    headers: { ...request.headers },
    body: bodyBytes(request),
    redirect: "manual",
    signal: limits.signal,
  });
  limits.arrived();
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
    return { kind: "body", headers, status, text: await readBody(response, limits) };
  }
  return { kind: "stream", headers, lines: await readStream(response, options, limits) };
}

/** A stream without a type, or with that of plain text, is taken as one: its lines tell soon enough. */
function isEventStream(headers: Headers): boolean {
  const type = headers.get("content-type");
  return type === null || /^text\/(?:event-stream|plain)\b/i.test(type.trim());
}

async function readStream(
  response: Response,
  options: PostOptions,
  limits: Limits,
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
    // What has brought none of them by then is no stream of events, and may be one without end.
    while (!stopped && (heard || strayed < BODY_LIMIT)) {
      const value = await body.read();
      if (value === null) break;
      limits.arrived();
      reader.feed(value);
      const room = options.room?.();
      if (room !== undefined) await limits.unheard(room);
    }
  } finally {
    // The closing event was seen or reading failed: whatever else the connection holds is of no interest.
    await body.cancel().catch(() => undefined);
  }
  if (!stopped) reader.end();
  return lines;
}

/** Bytes that are read at a time. */
const READ_BYTES = 1 << 16;

/** The pieces of a body as they come, each valid until the next is read; null at the end. */
interface BodyReader {
  read(): Promise<Uint8Array | null>;
  cancel(): Promise<void>;
}

/**
 * Reads a body into one buffer: a piece of its own for each of the small events of a stream would be memory that is
 * collected late. Not every body can be read so, as one that a program made from a list.
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
    // What is no stream of bytes says so.
    if (thrown instanceof TypeError) return null;
    throw thrown;
  }
}

/** Nothing at all. */
const SAYS_NOTHING = /^\s*(?:null)?\s*$/;

/** The word with which some servers end a stream. */
const DONE = /^\s*\[DONE\]\s*$/;

/** The JSON object or list of an event; null for anything else. */
function decodeEvent(data: string): object | null {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

async function readBody(response: Response, limits: Limits): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  const body = response.body.getReader();
  let text = "";
  for (let size = 0; size < BODY_LIMIT;) {
    const { done, value } = await body.read();
    if (done) return text + decoder.decode();
    limits.arrived();
    size += value.length;
    const piece = decoder.decode(value, { stream: true });
    // Some gateways send blanks while they wait for the reply themselves.
    if (/\S/.test(piece)) limits.replied();
    text += piece;
  }
  await body.cancel();
  return text;
}
