// The runtime that a session goes by: made anew when the first block says something else, or a person changed what holds.

import { type Outcome, success } from "../../base/problem.ts";
import type { DocumentStore } from "../../cycle/types.ts";
import { blocksOf, saySame } from "../settings.ts";
import { compose } from "./compose.ts";
import type { Runtime, RuntimeOptions } from "./types.ts";

export class CurrentRuntime {
  readonly #store: DocumentStore;
  readonly #options: RuntimeOptions;
  #value: Runtime;
  /** The runtime being brought up to date. */
  #composing: Promise<Outcome<Runtime>> | null = null;
  /** It is to be made anew although the first block is the same. */
  #stale = false;

  constructor(store: DocumentStore, options: RuntimeOptions, value: Runtime) {
    this.#store = store;
    this.#options = options;
    this.#value = value;
  }

  /** The last one that could be made. */
  get value(): Runtime {
    return this.#value;
  }

  /** Has it made anew when it is asked for next. */
  markStale(): void {
    this.#stale = true;
  }

  /**
   * The one by the first block as it is now; fails with what is wrong there or in the settings.
   *
   * @param isFixed whether something goes by the one that is there: then it stays
   */
  current(isFixed: () => boolean): Promise<Outcome<Runtime>> {
    return this.#composing ??= this.#compose(isFixed).finally(() => this.#composing = null);
  }

  async #compose(isFixed: () => boolean): Promise<Outcome<Runtime>> {
    const stale = this.#stale || !saySame(this.#value.blocks, blocksOf(this.#store.chat));
    if (!stale || isFixed()) return success(this.#value);
    const made = await compose(this.#store, this.#options);
    if (made.ok) {
      await this.#value.servers.close();
      this.#value = made.value;
      this.#stale = false;
    }
    return made;
  }
}
