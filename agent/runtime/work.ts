// Tracks the running work on an open document, and lets this and other processes cancel it.

import type { Problem } from "../../base/problem.ts";
import { busySending, busyStarting } from "../../cycle/plan/refusals.ts";
import type { DocumentStore } from "../../cycle/types.ts";
import type { Cancellable } from "./cancel/answer.ts";
import type { Runtime, RuntimeOptions } from "./types.ts";

export class Work {
  readonly #store: DocumentStore;
  readonly #options: RuntimeOptions;
  readonly #runtime: () => Runtime;
  readonly #underWay = new Set<Promise<unknown>>();
  /** Stops listening for cancel requests; null while no work is running that could be cancelled. */
  #listening: Promise<() => Promise<void>> | null = null;

  /** @param runtime gives the current runtime */
  constructor(store: DocumentStore, options: RuntimeOptions, runtime: () => Runtime) {
    this.#store = store;
    this.#options = options;
    this.#runtime = runtime;
  }

  get isUnderWay(): boolean {
    return this.#underWay.size > 0;
  }

  /**
   * Returns why no work may start now; null if work may start. With `alone`, no other work may run at the same time.
   * Steps are not checked here, because the cycle itself runs only one at a time.
   */
  obstacle(alone: boolean): Problem | null {
    if (this.#runtime().cycle.requesting) return busySending();
    return alone && this.isUnderWay ? busyStarting() : null;
  }

  /** Tracks work, so that closing can wait for it. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
      if (!this.isUnderWay) await Promise.all([this.#runtime().rest(), this.#unlisten()]);
    }
  }

  /** Cancels everything, and waits for its end. */
  async cancelAll(): Promise<void> {
    if (this.isUnderWay) this.#runtime().cycle.cancelAll();
    // Each caller learns the result of its own work.
    await Promise.allSettled(this.#underWay);
  }

  /** Lets other processes cancel the running work. Returns immediately, before the listener is ready. */
  listen(): void {
    const { environment, emit } = this.#options;
    const { path } = this.#store;
    if (path === null || this.#listening !== null) return;
    const tell = ({ code, message }: Problem) => emit?.({ event: "notice", code, message });
    this.#listening = import("./cancel/hear.ts").then(({ hear }) =>
      hear({ environment, path, tell, run: this.#cancellable })
    );
  }

  async #unlisten(): Promise<void> {
    const listening = this.#listening;
    this.#listening = null;
    await (await listening)?.();
  }

  get #cancellable(): Cancellable {
    const cycle = () => this.#runtime().cycle;
    const jobs = () => this.#runtime().jobs;
    const chat = () => this.#store.chat;
    return {
      get chat() {
        return chat();
      },
      get running() {
        return cycle().running;
      },
      get requesting() {
        return cycle().requesting;
      },
      get jobs() {
        return jobs().running;
      },
      cancel: () => cycle().cancel() ?? (jobs().endWait() ? { what: "jobs" } : null),
      cancelCall: (id) => cycle().cancelCall(id),
      stopJob: (id) => jobs().stop(id),
    };
  }
}
