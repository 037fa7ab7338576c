// The body of a request as bytes. As a string, the body of a long conversation would take twice as much memory in
// addition, so the string is decoded only on access.

import { sameBytes } from "../../base/bytes.ts";
import type { ProviderRequest } from "../types.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes of the requests created by `withBody`. */
const made = new WeakMap<ProviderRequest, Uint8Array<ArrayBuffer>>();

/** Creates a request whose UTF-8 body is decoded only on access. */
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

export function bodyBytes(request: ProviderRequest): Uint8Array<ArrayBuffer> {
  return made.get(request) ?? new TextEncoder().encode(request.body);
}

export function sameBody(a: ProviderRequest, b: ProviderRequest): boolean {
  return sameBytes(bodyBytes(a), bodyBytes(b));
}
