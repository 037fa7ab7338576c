// Hashes of files and names, as hexadecimal text.

/** Returns the SHA-256 of bytes or text as 64 hexadecimal digits. */
export async function sha256(data: Uint8Array<ArrayBuffer> | string): Promise<string> {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return toHex(digest);
}

/** Returns bytes as hexadecimal digits, two for each byte. Older Denos lack a built-in method. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** True if a text has the form of a digest of `sha256`. */
export function isSha256(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/**
 * Returns a short digest of a text without waiting: 53 bits as 14 hexadecimal digits. It is not secure against
 * forgery; use `sha256` for that.
 */
export function quickHash(text: string): string {
  return quickHashOf([text]);
}

/** Returns the digest of `quickHash` for a text in parts. */
export function quickHashOf(parts: Iterable<string>): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (const text of parts) {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      a = Math.imul(a ^ code, 2654435761);
      b = Math.imul(b ^ code, 1597334677);
    }
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(16).padStart(14, "0");
}
