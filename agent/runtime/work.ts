// What is under way in a session, and the ways to end it: from here, and from other processes while it lasts.

import type { Problem } from "../../base/problem.ts";
import { busySending, busyStarting } from "../../cycle/plan/refusals.ts";
import type { DocumentStore } from "../../cycle/types.ts";
import type { Cancellable } from "../cancel/answer.ts";
import type { Runtime, RuntimeOptions } from "./types.ts";

export class Work {
  readonly #store: DocumentStore;
  readonly #options: RuntimeOptions;
  readonly #runtime: () => Runtime;
  readonly #underWay = new Set<Promise<unknown>>();
  /** Hears what other processes want cancelled; null while nothing is under way that can be. */
  #listening: Promise<() => Promise<void>> | null = null;

  /** @param runtime the one that holds when it is asked for */
  constructor(store: DocumentStore, options: RuntimeOptions, runtime: () => Runtime) {
    this.#store = store;
    this.#options = options;
    this.#runtime = runtime;
  }

  get isUnderWay(): boolean {
    return this.#underWay.size > 0;
  }

  /** Why nothing may begin now; `alone` wants nothing else beside it. The cycle keeps its own works apart from each other. */
  obstacle(alone: boolean): Problem | null {
    if (this.#runtime().cycle.requesting) return busySending();
    return alone && this.isUnderWay ? busyStarting() : null;
  }

  /** Keeps work in sight of closing. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
      if (!this.isUnderWay) await Promise.all([this.#runtime().rest(), this.#unlisten()]);
    }
  }

  /** Cancels everything, and waits until it has ended. */
  async cancelAll(): Promise<void> {
    if (this.isUnderWay) this.#runtime().cycle.cancelAll();
    // How each of them ended is told to whoever asked for it.
    await Promise.allSettled(this.#underWay);
  }

  /** Lets other processes cancel what is under way; nothing waits for it. */
  listen(): void {
    const { environment, emit } = this.#options;
    const { path } = this.#store;
    if (path === null || this.#listening !== null) return;
    const tell = ({ code, message }: Problem) => emit?.({ event: "notice", code, message });
    this.#listening = import("../cancel/hear.ts").then(({ hear }) =>
      hear({ environment, path, tell, run: this.#cancellable })
    );
  }

  async #unlisten(): Promise<void> {
    const listening = this.#listening;
    this.#listening = null;
    await (await listening)?.();
  }

  /** What goes on, and the ways to end it. */
  get #cancellable(): Cancellable {
    const cycle = () => this.#runtime().cycle;
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
      cancel: () => cycle().cancel(),
      cancelCall: (id) => cycle().cancelCall(id),
    };
  }
}
