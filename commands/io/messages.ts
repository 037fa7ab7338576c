// Words for a person: to standard error, or to the journal when that is where the document goes (cli 3.2).

import type { Environment } from "../../base/environment.ts";
import type { Problem } from "../../base/problem.ts";
import { keepMessages } from "../../cycle/storage/kept_messages.ts";
import { visible } from "../../base/visible.ts";
import { errorIsOutput, writeError } from "./streams.ts";

export class Messages {
  readonly #environment: Environment;
  readonly #quiet: boolean;
  /** Messages that may not be printed; null when they may. */
  readonly #kept: string[] | null;
  /** Told before each line, so that a spinner can step aside. */
  beforeLine: () => void = () => {};

  constructor(environment: Environment, options: { readonly filter: boolean; readonly quiet: boolean }) {
    this.#environment = environment;
    this.#quiet = options.quiet;
    this.#kept = options.filter && errorIsOutput() ? [] : null;
  }

  /** Whether standard error may be written to. */
  get printable(): boolean {
    return this.#kept === null;
  }

  /** Something good to know; silent with --quiet. Several lines may be given. */
  note(text: string): void {
    if (!this.#quiet) this.#line(text);
  }

  /** A failure, or what a person must do: always said. */
  say(text: string): void {
    this.#line(text);
  }

  /** A problem, what is known about it, and its next step. */
  problem(problem: Problem): void {
    this.#line(`flemma: ${problem.message}`);
    for (const detail of problem.details ?? []) this.#line(`  ${detail}`);
    if (problem.next !== undefined) this.#line(`  ${problem.next}`);
  }

  notice(problem: Problem): void {
    if (!this.#quiet) this.problem(problem);
  }

  /** Makes kept messages durable. Call once, at the end. */
  close(): void {
    if (this.#kept !== null) keepMessages(this.#environment, this.#kept);
  }

  #line(text: string): void {
    const safe = visible(text, { lines: true });
    if (this.#kept !== null) {
      this.#kept.push(safe);
      return;
    }
    this.beforeLine();
    writeError(`${safe}\n`);
  }
}
