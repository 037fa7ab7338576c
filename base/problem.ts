// Failures as values: a stable code, a sentence for a person, and the next thing to do.

/** A failure that a person can act on. It is returned, not thrown, for bad input. */
export interface Problem {
  /** Stable kebab-case name, e.g. `backend-unavailable`; scripts may rely on it. */
  readonly code: string;
  /** One full sentence that says what is wrong. */
  readonly message: string;
  /** Lines to show below the message, such as the headers that say when a limit ends. */
  readonly details?: readonly string[];
  /** One sentence or command that says what to do next. */
  readonly next?: string;
}

/**
 * Either a value or the reason why there is none. The reason is a problem for a person, or another type for callers
 * that report it themselves, such as the position of an error in a file. A function without a value to return gives
 * `Problem | null`.
 */
export type Outcome<T, E = Problem> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: E };

/** Wraps a value as a success. */
export function success<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** Wraps a reason as a failure. */
export function failed<E>(problem: E): { readonly ok: false; readonly problem: E } {
  return { ok: false, problem };
}

/** Creates a problem and wraps it as a failure. */
export function failure(code: string, message: string, next?: string): { ok: false; problem: Problem } {
  return { ok: false, problem: next === undefined ? { code, message } : { code, message, next } };
}

/** Returns the message and the next step on one line. */
export function problemLine({ message, next }: Pick<Problem, "message" | "next">): string {
  return joinSentences(next === undefined ? [message] : [message, next]);
}

/** Returns a problem on one line with its details, for windows and status bars that show a single message. */
export function problemParagraph({ message, details = [], next }: Problem): string {
  return joinSentences([message, ...details, ...next === undefined ? [] : [next]]);
}

/** Returns a text that ends as a sentence: with a period, unless it is a question or has one already. */
export function asSentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** Returns a text that begins and ends as a sentence, for messages that otherwise stand behind a file's name. */
export function wholeSentence(text: string): string {
  return asSentence(`${text.slice(0, 1).toUpperCase()}${text.slice(1)}`);
}

/** Joins sentences. Messages of providers and of the system often end without a period, and then get one. */
function joinSentences(sentences: readonly string[]): string {
  return sentences.map((each, at) =>
    at < sentences.length - 1 && /[\p{L}\p{N}"'`)\]]$/u.test(each) ? `${each}.` : each
  )
    .join(" ");
}

/**
 * Returns the text of an exception on one line, for the end of a sentence. Omits the stack, and the error number and
 * system call of system errors, which help nobody. The caller names the file.
 */
export function thrownText(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/\s*\n\s*/g, " ").trim().replace(/ \(os error \d+\)(?:: [a-z_ ]+ '.*')?/, "");
}

/**
 * Returns the problem to report if the runtime denies something. Either a permission is missing, or the program was
 * loaded from an address that lacks a part of it. Null for every other exception.
 */
export function runtimeRefusal(thrown: unknown): Problem | null {
  if (thrown instanceof Deno.errors.NotCapable) {
    const [flag = "-A"] = /--allow-[a-z-]+/.exec(thrown.message) ?? [];
    const [what = ""] = thrown.message.split(", run again");
    return {
      code: "permission-lacking",
      message: `Missing permission ${flag}: flemma ${what.replace(/^R/, "r")}.`,
      next: `Start it with ${flag}, or with -A for everything its commands need.`,
    };
  }
  const { origin, protocol } = new URL(import.meta.url);
  if (protocol !== "file:" && thrown instanceof TypeError && thrown.message.includes(origin)) {
    return {
      code: "part-missing",
      message: `Could not fetch a part of flemma: ${thrown.message}`,
      next:
        "Start it once with deno run --reload if the program at this address has changed; otherwise make sure that this machine can reach the address.",
    };
  }
  return null;
}
