// The current runtime of a `ChatSession`: rebuilt when the frontmatter changes, or when a person changed rules or
// trust.

import { type Outcome, success } from "../../base/problem.ts";
import type { DocumentStore } from "../../cycle/types.ts";
import { blocksOf, haveSameSettings } from "../settings.ts";
import { compose } from "./compose.ts";
import type { Runtime, RuntimeOptions } from "./types.ts";

export class CurrentRuntime {
  readonly #store: DocumentStore;
  readonly #options: RuntimeOptions;
  #value: Runtime;
  #composing: Promise<Outcome<Runtime>> | null = null;
  /** True if the runtime must be rebuilt although the frontmatter is the same. */
  #stale = false;

  constructor(store: DocumentStore, options: RuntimeOptions, value: Runtime) {
    this.#store = store;
    this.#options = options;
    this.#value = value;
  }

  /** The last runtime that could be built. */
  get value(): Runtime {
    return this.#value;
  }

  /** Marks the runtime as outdated, so that it is rebuilt on the next request. */
  markStale(): void {
    this.#stale = true;
  }

  /**
   * Returns the runtime for the current frontmatter. Fails with the mistake in the frontmatter or in the settings.
   *
   * @param isFixed returns whether running work uses the present runtime; if so, this runtime is not replaced
   */
  current(isFixed: () => boolean): Promise<Outcome<Runtime>> {
    return this.#composing ??= this.#compose(isFixed).finally(() => this.#composing = null);
  }

  async #compose(isFixed: () => boolean): Promise<Outcome<Runtime>> {
    const stale = this.#stale || !haveSameSettings(this.#value.blocks, blocksOf(this.#store.chat));
    if (!stale || isFixed()) return success(this.#value);
    const made = await compose(this.#store, this.#options, { kept: this.#value.kept() });
    if (made.ok) {
      await this.#value.servers.close();
      this.#value = made.value;
      this.#stale = false;
    }
    return made;
  }
}
