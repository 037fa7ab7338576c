// Handles Ctrl-C and other signals that end a process. The first signal ends the run in order, a second one exits
// immediately.

import { thrownText } from "../../base/problem.ts";
import { after } from "../../base/system/timer.ts";
import { Exit } from "./exit.ts";

/** Every signal that ends a process by default and can be caught. */
const ENDING: readonly Deno.Signal[] = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
  "SIGALRM",
];

/**
 * Longest time between two signals that count as one. Programs such as timeout(1) and Vim send one signal both to a
 * process and to its group. No person presses a key twice this fast.
 */
const TOGETHER_MILLISECONDS = 100;
const TWICE_MILLISECONDS = 2000;
/**
 * Time in which a terminated run ends in order. A program that terminates this one may soon kill it, so the run exits
 * on its own well before that.
 */
const TERMINATE_GRACE_MILLISECONDS = 4000;

/**
 * Callback that runs synchronously right before the process exits. It gets the fault that caused the exit (or null)
 * and the planned exit code. Returns the exit code to use.
 */
export type LastWords = (fault: string | null, exit: number) => number;

/** Returns the meaning of a signal that comes `since` milliseconds after the last one that counted. */
export function meaningOf(since: number): "first" | "same" | "second" {
  if (since < TOGETHER_MILLISECONDS) return "same";
  return since < TWICE_MILLISECONDS ? "second" : "first";
}

export class Interrupts {
  readonly #controller = new AbortController();
  readonly #lastWords: LastWords;
  readonly #listeners: readonly (readonly [Deno.Signal, () => void])[];
  #last = -Infinity;
  #endGrace: (() => void) | undefined;

  constructor(lastWords: LastWords) {
    this.#lastWords = lastWords;
    this.#listeners = ENDING.map((name) => [name, () => this.#receive(name)] as const);
    for (const [name, listener] of this.#listeners) Deno.addSignalListener(name, listener);
    globalThis.addEventListener("unhandledrejection", this.#broken);
    globalThis.addEventListener("error", this.#broken);
  }

  /** Signal that the first Ctrl-C or ending signal aborts. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get received(): boolean {
    return this.#controller.signal.aborted;
  }

  dispose(): void {
    this.#endGrace?.();
    for (const [name, listener] of this.#listeners) Deno.removeSignalListener(name, listener);
    globalThis.removeEventListener("unhandledrejection", this.#broken);
    globalThis.removeEventListener("error", this.#broken);
  }

  #receive(name: Deno.Signal): void {
    const now = performance.now();
    const meaning = meaningOf(now - this.#last);
    if (meaning === "second") this.#end(Exit.interrupted);
    // A person can press Ctrl-C again; senders of other signals do not, so a timer ends the run.
    if (name !== "SIGINT") {
      this.#endGrace ??= after(TERMINATE_GRACE_MILLISECONDS, () => this.#end(Exit.interrupted));
    }
    if (meaning === "same") return;
    this.#last = now;
    this.#controller.abort();
  }

  /** An unhandled fault would end the process without a message and without writing the document. */
  readonly #broken = (event: Event): void => {
    event.preventDefault();
    const thrown = event instanceof PromiseRejectionEvent
      ? event.reason
      : event instanceof ErrorEvent
      ? event.error
      : event;
    this.#end(Exit.failure, thrownText(thrown));
  };

  #end(code: number, fault: string | null = null): never {
    Deno.exit(this.#lastWords(fault, code));
  }
}
