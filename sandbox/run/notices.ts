// Collects the notices of a sandbox for the person, without duplicates.

import type { Problem } from "../../base/problem.ts";

export class Notices {
  readonly #all = new Map<string, Problem>();

  add(problems: readonly Problem[]): void {
    for (const problem of problems) {
      const key = `${problem.code}\n${problem.message}`;
      if (!this.#all.has(key)) this.#all.set(key, problem);
    }
  }

  all(): readonly Problem[] {
    return [...this.#all.values()];
  }
}
