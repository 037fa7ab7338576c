// Guards server connections over HTTP: limits the length of a message, and turns a stream that ends without its answer
// into an error. Otherwise the call would wait until its timeout.

import { type Outcome, problemLine } from "../../base/problem.ts";
import { LONGEST_MESSAGE, TOO_LONG } from "./faults.ts";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** How to make requests to a server over HTTP. */
export interface McpNetwork {
  readonly fetch: typeof fetch;
  close(): void;
}

/** Wraps the client's requests and checks the responses. */
export function guardedFetch(inner: typeof fetch): Fetch {
  return async (url, init) => {
    const response = await inner(url, init);
    const { body, headers } = response;
    // The response to the end of a session is not read.
    if (body === null || init?.method === "DELETE") return response;
    const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
    const guarded = isStream
      ? guardedEvents(retainBody(response, body), requestId(init))
      : bounded(retainBody(response, body));
    const copy = new Response(guarded, response);
    // The client detects redirects by the URL.
    Object.defineProperty(copy, "url", { value: response.url });
    return copy;
  };
}

/** Seconds for one request of a sign-in. */
const ONE_REQUEST = 30;

/** Returns requests of which each opens a connection, reads the whole response and closes the connection. */
export function singleRequests(network: (url: string) => Promise<Outcome<McpNetwork>>): typeof fetch {
  return async (input, init) => {
    const opened = await network(String(input));
    if (!opened.ok) throw new Error(problemLine(opened.problem));
    try {
      const signal = AbortSignal.timeout(ONE_REQUEST * 1000);
      const response = await guardedFetch(opened.value.fetch)(String(input), { ...init, signal });
      const body = await response.arrayBuffer();
      return new Response([204, 304].includes(response.status) ? null : body, response);
    } finally {
      opened.value.close();
    }
  };
}

/** Responses whose bodies are being read. */
const READ: Set<Response> = new Set();

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/**
 * Reads the body of a response, and keeps the response in memory while doing so. Deno 2.9 has only a weak reference to
 * the response. If the response were collected as garbage, the signal could no longer end the body, and the program
 * would wait for the stream forever.
 */
function retainBody(response: Response, body: ReadableStream<Uint8Array>): BodyReader {
  const reader = body.getReader();
  READ.add(response);
  return {
    read: async () => {
      try {
        const read = await reader.read();
        if (read.done) READ.delete(response);
        return read;
      } catch (thrown) {
        READ.delete(response);
        throw thrown;
      }
    },
    cancel: (reason) => {
      READ.delete(response);
      return reader.cancel(reason);
    },
  };
}

/** The id of the request in a body; null if it expects no answer. */
function requestId({ body }: RequestInit = {}): string | number | null {
  if (typeof body !== "string") return null;
  const message = JSON.parse(body) as { readonly id?: string | number; readonly method?: string };
  return message.method === undefined ? null : message.id ?? null;
}

/**
 * Forwards events. When the stream ends, adds an error answer to the request, which the client ignores if the request
 * was answered before. If the events have ids, nothing is added, because the client may resume the stream on another
 * connection.
 */
function guardedEvents(
  reader: BodyReader,
  request: string | number | null,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let resumable = false;
  let length = 0;
  let line = "";
  const watch = new TextDecoder("latin1");
  /** True if the current event is too long. */
  const isTooLong = (chunk: Uint8Array): boolean => {
    const text = watch.decode(chunk);
    for (const part of text.split(/(?<=\n)|(?<=\r)(?!\n)/)) {
      length += part.length;
      line = (line + part).slice(0, 8);
      if (/^id: ?[^\r\n]/.test(line)) resumable = true;
      if (!/[\r\n]$/.test(part)) continue;
      if (/^[\r\n]/.test(line)) length = 0;
      line = "";
    }
    return length > LONGEST_MESSAGE;
  };
  const ended = (why: string): Uint8Array<ArrayBuffer> => {
    const message = { jsonrpc: "2.0", id: request, error: { code: CONNECTION_CLOSED, message: why } };
    return new TextEncoder().encode(`\n\nevent: message\ndata: ${JSON.stringify(message)}\n\n`);
  };
  return new ReadableStream({
    async pull(controller) {
      const end = (why: string) => {
        if (request !== null && !resumable) controller.enqueue(ended(why));
        controller.close();
      };
      try {
        const { done, value } = await reader.read();
        if (done) return end("the server ended the stream without an answer");
        if (isTooLong(value)) {
          await reader.cancel();
          resumable = false;
          return end(TOO_LONG);
        }
        controller.enqueue(value as Uint8Array<ArrayBuffer>);
      } catch {
        end("the connection broke before the answer arrived");
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Protocol error code for a connection that ended. */
const CONNECTION_CLOSED = -32000;

/** Forwards up to the maximum length of a message, and fails at the next byte. */
function bounded(reader: BodyReader): ReadableStream<Uint8Array<ArrayBuffer>> {
  let length = 0;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      length += value.length;
      if (length <= LONGEST_MESSAGE) return controller.enqueue(value as Uint8Array<ArrayBuffer>);
      await reader.cancel();
      controller.error(new Error(TOO_LONG));
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
