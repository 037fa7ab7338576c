// The order in which names are offered and shown: by their UTF-8 bytes, the same on every machine.

/** Order by code point, which is the order of UTF-8 bytes. */
export function byBytes(a: string, b: string): number {
  const left = Array.from(a);
  const right = Array.from(b);
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const order = (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? 0);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
