// The body of a request as the bytes that are sent. The string of a long conversation would be as large again, and twice: it
// is made for whoever asks for it.

import { sameBytes } from "../../base/bytes.ts";
import type { ProviderRequest } from "../types.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The bytes of requests that were made here. */
const made = new WeakMap<ProviderRequest, Uint8Array<ArrayBuffer>>();

/** A request with a body in UTF-8. */
export function withBody(
  head: Omit<ProviderRequest, "body">,
  bytes: Uint8Array<ArrayBuffer>,
): ProviderRequest {
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
  return made.get(request) ?? new TextEncoder().encode(request.body);
}

/** Whether two requests say the same. */
export function sameBody(a: ProviderRequest, b: ProviderRequest): boolean {
  return sameBytes(bodyBytes(a), bodyBytes(b));
}
