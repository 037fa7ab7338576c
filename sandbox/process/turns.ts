// Lets commands and file tools take turns. A file tool of this program runs only while no command lives that could
// replace its files, for instance by putting a link in place of a folder between check and use.

import type { Environment } from "../../base/environment.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import type { FileAccess, FileTurn } from "../types.ts";
import { announceCommand, type LivingCommand, tryBetweenCommands, waitForPoll } from "./command_registry.ts";

/** Thrown if a file tool would have to wait for a background command, which may live as long as the run. */
export class BackgroundBusy extends Error {
  constructor() {
    super(
      "This tool cannot work on files while a background job runs. Stop the job first, with flemma.jobs.stop.",
    );
  }
}

/**
 * The turns of one run. Commands run in parallel, and so do reads. Commands and file tools never overlap, nor do two
 * writes.
 */
export class Turns {
  readonly #environment: Environment;
  readonly #note: (problem: Problem) => void;
  #commands = 0;
  /** Number of live background commands, in addition to the other commands. */
  #background = 0;
  #files = 0;
  #announced: Promise<Outcome<LivingCommand>> | null = null;
  #writing: Promise<unknown> = Promise.resolve();
  #changed = Promise.withResolvers<void>();

  /** @param note reports a problem, for instance that other runs cannot see the commands of this run */
  constructor(environment: Environment, note: (problem: Problem) => void) {
    this.#environment = environment;
    this.#note = note;
  }

  /**
   * Waits until no file tool runs. From then until `commandEnded` is called, a command that can write below `writable`
   * counts as live. If this fails with `files-busy`, the command does not count as live.
   */
  async commandBegins(writable: readonly string[], background = false): Promise<Outcome<void>> {
    while (this.#files > 0) await this.#changed.promise;
    if (background) this.#background++;
    else this.#commands++;
    const announced = await (this.#announced ??= announceCommand(writable, this.#environment));
    if (announced.ok) return success(undefined);
    if (announced.problem.code !== "files-busy") {
      this.#note(announced.problem);
      return success(undefined);
    }
    await this.commandEnded(background);
    return announced;
  }

  async commandEnded(background = false): Promise<void> {
    if (background) this.#background--;
    else this.#commands--;
    if (this.#commands === 0) this.#wake();
    if (this.#commands + this.#background > 0) return;
    const announced = this.#announced;
    this.#announced = null;
    const living = await announced;
    if (living?.ok) living.value.release();
  }

  /**
   * Runs the work of a file tool while no command of this run lives. A write also waits for commands of any run on this
   * machine that can write there.
   *
   * @throws the reason of the signal, if it aborts during the wait, or `BackgroundBusy`
   */
  async files<T>(access: FileAccess, turn: FileTurn, work: () => Promise<T>): Promise<T> {
    if (access === "read") return await this.#between(turn, work);
    const before = this.#writing;
    const written = before.then(() => this.#write(turn, work));
    this.#writing = written.catch(() => undefined);
    return await written;
  }

  async #write<T>(turn: FileTurn, work: () => Promise<T>): Promise<T> {
    if (turn.runsApart === true) return await this.#between(turn, work);
    let reported = false;
    for (;;) {
      const attempt = await this.#between(
        turn,
        () => tryBetweenCommands(this.#environment, turn.paths, work),
      );
      if (!attempt.ok) {
        this.#note(attempt.problem);
        return await this.#between(turn, work);
      }
      if (attempt.value !== null) return attempt.value.value;
      if (!reported) turn.waiting("another run");
      reported = true;
      await waitForPoll(turn.signal);
    }
  }

  async #between<T>({ signal, waiting, runsApart }: FileTurn, work: () => Promise<T>): Promise<T> {
    if (this.#commands > 0) waiting("this run");
    while (this.#commands > 0) {
      signal.throwIfAborted();
      await Promise.race([this.#changed.promise, aborted(signal)]);
    }
    signal.throwIfAborted();
    if (this.#background > 0 && runsApart !== true) throw new BackgroundBusy();
    this.#files++;
    try {
      return await work();
    } finally {
      this.#files--;
      this.#wake();
    }
  }

  #wake(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
