// A server over HTTP: no message of it is longer than memory may be, and a stream that ends without the answer it was
// opened for is an answer too, or the call would wait until its time is over.

import { LONGEST_MESSAGE, TOO_LONG } from "./faults.ts";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Makes requests of the client, and guards what comes back. */
export function guardedFetch(inner: typeof fetch): Fetch {
  return async (url, init) => {
    const response = await inner(url, init);
    const { body, headers } = response;
    // Of a farewell nothing is read.
    if (body === null || init?.method === "DELETE") return response;
    const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
    const guarded = isStream
      ? guardedEvents(retainBody(response, body), requestId(init))
      : bounded(retainBody(response, body));
    const copy = new Response(guarded, response);
    // The client tells of redirects by it.
    Object.defineProperty(copy, "url", { value: response.url });
    return copy;
  };
}

/** Responses whose bodies are being read. */
const READ: Set<Response> = new Set();

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/**
 * Reads the body of a response. A signal ends a body only as long as somebody holds the response (Deno 2.9 has it in a
 * weak reference): otherwise the program would wait for a stream that nobody wants any more.
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

/** The id of the request that a body holds; null when it asks for no answer. */
function requestId({ body }: RequestInit = {}): string | number | null {
  if (typeof body !== "string") return null;
  const message = JSON.parse(body) as { readonly id?: string | number; readonly method?: string };
  return message.method === undefined ? null : message.id ?? null;
}

/**
 * Passes events on. Where the stream ends, an answer to the request follows that says so: one that was answered already
 * is not listened to any more. A stream with ids goes on somewhere else, so its end says nothing.
 */
function guardedEvents(
  reader: BodyReader,
  request: string | number | null,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let resumable = false;
  let length = 0;
  let line = "";
  const watch = new TextDecoder("latin1");
  /** Whether the event that is under way is too long. */
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
        end("the connection broke before the answer came");
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The code of the protocol for a connection that ended. */
const CONNECTION_CLOSED = -32000;

/** Passes on what one message may have and fails at the next byte. */
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
