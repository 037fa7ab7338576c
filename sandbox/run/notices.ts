// What a sandbox has to tell the person, each thing once.

import type { Problem } from "../../base/problem.ts";

/** Collects notices in the order in which they arise. */
export class Notices {
  readonly #all = new Map<string, Problem>();

  /** Adds those that were not told yet. */
  add(problems: readonly Problem[]): void {
    for (const problem of problems) {
      const key = `${problem.code}\n${problem.message}`;
      if (!this.#all.has(key)) this.#all.set(key, problem);
    }
  }

  /** All so far. */
  all(): readonly Problem[] {
    return [...this.#all.values()];
  }
}
