// Ctrl-C and every signal that ends a process: once asks the run to end in order, twice ends it at once.

import { thrownText } from "../../base/problem.ts";
import { after } from "../../base/system/timer.ts";
import { Exit } from "./exit.ts";

/** Every signal whose default is to end a process and that a program may take. */
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
 * Who signals a process and also its group, as timeout(1) and Vim do, means one thing by both; no person presses a key again
 * this fast.
 */
const TOGETHER_MILLISECONDS = 100;
const TWICE_MILLISECONDS = 2000;
/** Whoever ends a program from outside will not wait for ever; what can be saved is saved well before. */
const TERMINATE_GRACE_MILLISECONDS = 4000;

/**
 * Runs synchronously before the program is ended at once; told when a fault is the reason, and with which exit code it
 * would end. Answers the code it ends with.
 */
export type LastWords = (fault: string | null, exit: number) => number;

/** What a signal means that comes so many milliseconds after the last one that counted. */
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

  /** Aborted by the first interrupt. */
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
    // A person who pressed Ctrl-C watches and can press it again; nobody does that with the others.
    if (name !== "SIGINT") {
      this.#endGrace ??= after(TERMINATE_GRACE_MILLISECONDS, () => this.#end(Exit.interrupted));
    }
    if (meaning === "same") return;
    this.#last = now;
    this.#controller.abort();
  }

  /** A fault nobody awaits would end the process without a word and without the document. */
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
