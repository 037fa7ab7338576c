// Sends messages for people to standard error or a file. If they could end up in the document, sends them to the
// journal.

import type { Environment } from "../../base/environment.ts";
import { absolutePath } from "../../base/paths.ts";
import { type Problem, thrownText } from "../../base/problem.ts";
import { hideSecrets } from "../../base/text/secrets.ts";
import { keepMessages } from "./saved_messages.ts";
import { visible } from "../../base/visible.ts";
import { mayReachDocument } from "./parent_editor.ts";
import { writeError } from "./streams.ts";

/**
 * Where message lines go. `live`: to standard error immediately. `failure`: saved, and printed at the end if the run
 * failed. `journal`: saved and never printed. `file`: appended to that file.
 */
export type MessageTarget = "live" | "failure" | "journal" | { readonly file: string };

export type MessageLevel = "note" | "error";

/** Returns the target for a run's messages; `chosen` and `events` are the values of `--messages` and `--events`. */
export function placeOf(
  environment: Environment,
  { filter, chosen, events }: {
    readonly filter: boolean;
    readonly chosen?: string;
    readonly events?: string;
  },
): MessageTarget {
  if (chosen === "stderr") return "live";
  if (chosen === "journal") return "journal";
  if (chosen !== undefined) return { file: absolutePath(environment, chosen) };
  // With `--events stderr`, messages are printed as events, because standard error may then contain only lines of JSON.
  if (events === "stderr") return "journal";
  if (!filter) return "live";
  if (mayReachDocument(environment)) return "journal";
  return Deno.stderr.isTerminal() ? "live" : "failure";
}

export class Messages {
  readonly #environment: Environment;
  readonly #quiet: boolean;
  readonly #place: MessageTarget;
  readonly #filter: boolean;
  readonly #lines: string[] = [];
  /** The document that saved lines belong to; null until it is known. */
  #key: string | null = null;
  /** True if messages are only saved because they could reach the document. */
  readonly #isKeptFromDocument: boolean;
  /** Called before each line is written, so that a spinner can clear itself. */
  beforeLine: () => void = () => {};
  /** Called with every line, for listeners of events. */
  onLine: (level: MessageLevel, text: string) => void = () => {};

  constructor(
    environment: Environment,
    options: {
      readonly filter: boolean;
      readonly quiet: boolean;
      readonly place: MessageTarget;
      /** True if the person chose the place. @default false */
      readonly isChosen?: boolean;
    },
  ) {
    this.#environment = environment;
    this.#quiet = options.quiet;
    this.#filter = options.filter;
    this.#place = options.place;
    this.#isKeptFromDocument = options.isChosen !== true && options.place === "journal";
  }

  /** True if lines are printed immediately. */
  get live(): boolean {
    return this.#place === "live";
  }

  /** True if anything may be printed to standard error. */
  get mayPrint(): boolean {
    if (this.#filter && typeof this.#place === "object") return !mayReachDocument(this.#environment);
    return this.#place !== "journal";
  }

  /** Sets the key of the document that messages are about; they are saved under it. */
  about(key: string): void {
    this.#key = key;
  }

  /** Reports information; silent with --quiet. The text may have several lines. */
  note(text: string): void {
    if (!this.#quiet) this.#line("note", text);
  }

  /** Reports a failure, or what a person must do, even with --quiet. */
  say(text: string): void {
    this.#line("error", text);
  }

  /** Reports a problem with its details and next step. */
  problem(problem: Problem): void {
    this.say(problemLines(problem));
  }

  notice(problem: Problem): void {
    this.note(problemLines(problem));
  }

  /**
   * Prints or saves the messages once the exit code is known. Call once. Returns the reason if saving failed, or null.
   *
   * @param nothingCame whether no document came in, so that the messages cannot reach one
   */
  close(exit: number, { nothingCame = false }: { readonly nothingCame?: boolean } = {}): string | null {
    const lines = this.#lines;
    const isUnprinted = this.#place === "failure" || (nothingCame && this.#isKeptFromDocument);
    if (isUnprinted && exit !== 0) { for (const line of lines) writeError(`${line}\n`); }
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
      return `The messages of this run cannot be saved: ${thrownText(thrown)}.`;
    }
  }

  #append(file: string): null {
    const text = this.#lines.map((line) => `${line}\n`).join("");
    Deno.writeTextFileSync(file, text, { append: true, mode: 0o600 });
    return null;
  }

  #line(level: MessageLevel, text: string): void {
    const safe = visible(hideSecrets(text), { lines: true });
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
