// Tools of the program whose calls have no effects.

/** Tools that change nothing: after a crash they simply run again. */
export const HARMLESS: ReadonlySet<string> = new Set([
  "read",
  "find",
  "grep",
  "ls",
  "calculator",
  "calculator_async",
]);
