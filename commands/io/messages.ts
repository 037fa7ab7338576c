// Words for a person: to standard error, or to the journal where they could land in the document.

import type { Environment } from "../../base/environment.ts";
import { absolutePath } from "../../base/paths.ts";
import { type Problem, thrownText } from "../../base/problem.ts";
import { keepMessages } from "./saved_messages.ts";
import { visible } from "../../base/visible.ts";
import { mayReachDocument } from "./parent_editor.ts";
import { writeError } from "./streams.ts";

/**
 * Where lines go. `live`: to standard error as they come. `failure`: kept, and printed at the end of a run that
 * failed. `journal`: kept and never printed. Anything else is a file they are added to.
 */
export type Place = "live" | "failure" | "journal" | { readonly file: string };

export type Level = "note" | "error";

/** The place for messages of a run; `chosen` and `events` are what the options of these names say. */
export function placeOf(
  environment: Environment,
  { filter, chosen, events }: {
    readonly filter: boolean;
    readonly chosen?: string;
    readonly events?: string;
  },
): Place {
  if (chosen === "stderr") return "live";
  if (chosen === "journal") return "journal";
  if (chosen !== undefined) return { file: absolutePath(environment, chosen) };
  // There the messages are events, and nothing else may stand between the lines of JSON.
  if (events === "stderr") return "journal";
  if (!filter) return "live";
  if (mayReachDocument(environment)) return "journal";
  return Deno.stderr.isTerminal() ? "live" : "failure";
}

export class Messages {
  readonly #environment: Environment;
  readonly #quiet: boolean;
  readonly #place: Place;
  readonly #filter: boolean;
  readonly #lines: string[] = [];
  /** The document the kept lines are about; null until it is known. */
  #key: string | null = null;
  /** Told before each line, so that a spinner can step aside. */
  beforeLine: () => void = () => {};
  /** Told every line, for those who listen to events. */
  onLine: (level: Level, text: string) => void = () => {};

  constructor(
    environment: Environment,
    options: { readonly filter: boolean; readonly quiet: boolean; readonly place: Place },
  ) {
    this.#environment = environment;
    this.#quiet = options.quiet;
    this.#filter = options.filter;
    this.#place = options.place;
  }

  /** Whether lines are shown as they come. */
  get live(): boolean {
    return this.#place === "live";
  }

  /** Whether standard error may be used at all. */
  get mayPrint(): boolean {
    if (this.#filter && typeof this.#place === "object") return !mayReachDocument(this.#environment);
    return this.#place !== "journal";
  }

  /** Says which document the messages are about: the key under which they can be asked for. */
  about(key: string): void {
    this.#key = key;
  }

  /** Something good to know; silent with --quiet. Several lines may be given. */
  note(text: string): void {
    if (!this.#quiet) this.#line("note", text);
  }

  /** A failure, or what a person must do: always said. */
  say(text: string): void {
    this.#line("error", text);
  }

  /** A problem, what is known about it, and its next step. */
  problem(problem: Problem): void {
    this.say(problemLines(problem));
  }

  notice(problem: Problem): void {
    this.note(problemLines(problem));
  }

  /** Prints or keeps what was said, now that it is known how the run ended. Call once. Answers what went wrong. */
  close(exit: number): string | null {
    const lines = this.#lines;
    if (this.#place === "failure" && exit !== 0) { for (const line of lines) writeError(`${line}\n`); }
    if (
      lines.length === 0 || (!this.#filter && typeof this.#place === "string" && this.#place !== "journal")
    ) {
      return null;
    }
    try {
      if (typeof this.#place === "object") return this.#append(this.#place.file);
      keepMessages(this.#environment, this.#key, lines);
      return null;
    } catch (thrown) {
      return `The messages of this run cannot be kept: ${thrownText(thrown)}.`;
    }
  }

  #append(file: string): null {
    const text = this.#lines.map((line) => `${line}\n`).join("");
    Deno.writeTextFileSync(file, text, { append: true, mode: 0o600 });
    return null;
  }

  #line(level: Level, text: string): void {
    const safe = visible(text, { lines: true });
    this.#lines.push(safe);
    this.onLine(level, safe);
    if (this.#place !== "live") return;
    this.beforeLine();
    writeError(`${safe}\n`);
  }
}

function problemLines({ message, details = [], next }: Problem): string {
  return [
    `flemma: ${message}`,
    ...[...details, ...next === undefined ? [] : [next]].map((line) => `  ${line}`),
  ]
    .join("\n");
}
