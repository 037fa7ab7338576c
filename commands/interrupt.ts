// Ctrl-C and termination: once asks the run to end in order, twice ends it at once (cli 4.6).

import { Exit } from "./exit.ts";

const TWICE_MILLISECONDS = 2000;
/** Whoever sends SIGTERM will not wait for ever; what can be saved is saved well before. */
const TERMINATE_GRACE_MILLISECONDS = 4000;

export class Interrupts {
  readonly #controller = new AbortController();
  readonly #lastWords: () => void;
  readonly #listeners: readonly (readonly [Deno.Signal, () => void])[];
  #last = -Infinity;
  #grace: number | undefined;

  /** `lastWords` runs synchronously before the program is ended at once. */
  constructor(lastWords: () => void) {
    this.#lastWords = lastWords;
    this.#listeners = (["SIGINT", "SIGTERM"] as const).map((name) =>
      [name, () => this.#receive(name)] as const
    );
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
    clearTimeout(this.#grace);
    for (const [name, listener] of this.#listeners) Deno.removeSignalListener(name, listener);
    globalThis.removeEventListener("unhandledrejection", this.#broken);
    globalThis.removeEventListener("error", this.#broken);
  }

  #receive(name: Deno.Signal): void {
    const now = performance.now();
    if (now - this.#last < TWICE_MILLISECONDS) this.#end(Exit.interrupted);
    this.#last = now;
    if (name === "SIGTERM") {
      this.#grace ??= setTimeout(() => this.#end(Exit.interrupted), TERMINATE_GRACE_MILLISECONDS);
    }
    this.#controller.abort();
  }

  /** A fault nobody awaits would end the process without a word and without the document. */
  readonly #broken = (event: Event): void => {
    this.#end(Exit.failure);
    event.preventDefault();
  };

  #end(code: number): never {
    this.#lastWords();
    Deno.exit(code);
  }
}
