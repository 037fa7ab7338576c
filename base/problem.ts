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

/**
 * Either a value or what stood in its way: a problem for a person, or for those who know better what to say of it (the
 * place of a fault in a file, say) something of their own. What has no value to give answers `Problem | null`.
 */
export type Outcome<T, E = Problem> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: E };

/** Wraps a value as a success. */
export function success<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** Wraps what stood in the way as it is. */
export function failed<E>(problem: E): { readonly ok: false; readonly problem: E } {
  return { ok: false, problem };
}

/** Wraps a problem as a failure. */
export function failure(code: string, message: string, next?: string): { ok: false; problem: Problem } {
  return { ok: false, problem: next === undefined ? { code, message } : { code, message, next } };
}

/** What is wrong, and what to do next, on one line. */
export function inOneLine({ message, next }: Pick<Problem, "message" | "next">): string {
  return next === undefined ? message : `${message} ${next}`;
}

/**
 * The text of whatever was thrown, on one line and without a stack, fit for the end of a sentence. What the system says
 * goes without the number of the error and the name of the system call: nobody who meets it can do anything with these,
 * and the file is named by whoever tells of it.
 */
export function thrownText(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/\s*\n\s*/g, " ").trim().replace(/ \(os error \d+\)(?:: [a-z_ ]+ '.*')?/, "");
}

/**
 * What the runtime keeps from this program, as a problem: a permission that it was started without, or a part of it that
 * its address does not have. Null for everything else that is thrown.
 */
export function runtimeRefusal(thrown: unknown): Problem | null {
  if (thrown instanceof Deno.errors.NotCapable) {
    const [flag = "-A"] = /--allow-[a-z-]+/.exec(thrown.message) ?? [];
    const [what = ""] = thrown.message.split(", run again");
    return {
      code: "permission-lacking",
      message: `This program was started without the permission ${flag}: ${what.replace(/^R/, "r")}.`,
      next: `Start it with ${flag}, or with -A for all that its commands need.`,
    };
  }
  const { origin, protocol } = new URL(import.meta.url);
  if (protocol !== "file:" && thrown instanceof TypeError && thrown.message.includes(origin)) {
    return {
      code: "part-missing",
      message: `A part of flemma could not be fetched: ${thrown.message}`,
      next:
        "Start it once with deno run --reload: its address has another version now, or cannot be reached.",
    };
  }
  return null;
}
