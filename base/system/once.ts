// Values that are made at their first use, so that a process that does not need them does not pay for them.

/** Returns a function that calls `make` at its first call and returns the same value from then on. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
