// The body of a request as the bytes that are sent. The string of a long conversation would be as large again, and twice: it
// is made for whoever asks for it.

import { MOST_TEXT_BYTES, sameBytes, utf8Length } from "../../base/bytes.ts";
import type { ProviderRequest } from "../types.ts";
import { type JsonValue, type TextSink, writeBody } from "./json.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The bytes of requests that were made here. */
const made = new WeakMap<ProviderRequest, Uint8Array<ArrayBuffer>>();

/** A request with a body; throws what the runtime throws for a text that is too long. */
export function withBody(
  head: Omit<ProviderRequest, "body">,
  body: { readonly [key: string]: JsonValue | undefined },
  trailing: readonly string[],
): ProviderRequest {
  const bytes = bytesOf((sink) => writeBody(body, trailing, sink));
  const request = {
    ...head,
    get body() {
      return decoder.decode(bytes);
    },
  };
  made.set(request, bytes);
  return request;
}

/** The bytes of a request's body. */
export function bodyBytes(request: ProviderRequest): Uint8Array<ArrayBuffer> {
  return made.get(request) ?? encoder.encode(request.body);
}

/** Whether two requests say the same. */
export function sameBody(a: ProviderRequest, b: ProviderRequest): boolean {
  return sameBytes(bodyBytes(a), bodyBytes(b));
}

/** What is written, as bytes: counted first and written then, so that it never lies in memory in pieces and as a whole. */
function bytesOf(write: (sink: TextSink) => void): Uint8Array<ArrayBuffer> {
  let length = 0;
  write({ push: (...texts) => texts.forEach((text) => length += utf8Length(text)) });
  // What is thrown for a string of that length.
  if (length > MOST_TEXT_BYTES) throw new RangeError("Invalid string length");
  const bytes = new Uint8Array(length);
  let at = 0;
  write({
    push: (...texts) => texts.forEach((text) => at += encoder.encodeInto(text, bytes.subarray(at)).written),
  });
  return bytes;
}
