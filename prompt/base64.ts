// Bytes as base64 text, with what every runtime this program may run on has.

/** Bytes turned into text at a time; a multiple of three, so that pieces join without padding between them. */
const PIECE = 3 * 8192;

/** Standard base64 with padding. */
export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let from = 0; from < bytes.length; from += PIECE) {
    text += btoa(String.fromCharCode(...bytes.subarray(from, from + PIECE)));
  }
  return text;
}
