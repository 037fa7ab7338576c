// What can go wrong, as a value: a stable code, a sentence for a person, and the next thing to do.

/** A failure that a person can act on. Never thrown for bad input; returned. */
export interface Problem {
  /** Stable kebab-case name, e.g. `backend-unavailable`; scripts may rely on it. */
  readonly code: string;
  /** One full sentence that says what is wrong. */
  readonly message: string;
  /** Lines to show below the message, such as the headers that tell when a limit ends. */
  readonly details?: readonly string[];
  /** One sentence or command that says what to do next. */
  readonly next?: string;
}

/** Either a value or the problem that stood in its way. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

/** Wraps a value as a success. */
export function success<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

/** Wraps a problem as a failure. */
export function failure(code: string, message: string, next?: string): { ok: false; problem: Problem } {
  return { ok: false, problem: next === undefined ? { code, message } : { code, message, next } };
}

/** The text of whatever was thrown, on one line and without a stack. */
export function thrownText(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/\s*\n\s*/g, " ").trim();
}
