// Base64 encoding that works in every runtime.

/** Bytes encoded per step; a multiple of three, so that pieces join without padding. */
const PIECE = 3 * 8192;

/** Returns standard base64 with padding. */
export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let from = 0; from < bytes.length; from += PIECE) {
    text += btoa(String.fromCharCode(...bytes.subarray(from, from + PIECE)));
  }
  return text;
}
