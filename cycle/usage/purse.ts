// What a run has used of its limits, shared by a document and its helpers.

import type { WaitBudget } from "../../providers/http/patience.ts";

/** An amount of money and tokens. */
export interface Spending {
  readonly dollars: number;
  readonly tokens: number;
}

export class RunPurse {
  /** The seconds that the run may wait for limits of providers. */
  readonly waits: WaitBudget;
  #dollars = 0;
  #tokens = 0;
  /** What requests under way will probably use, by their document. */
  readonly #reserved = new Map<object, Spending>();
  /** Questions to helpers in this run. */
  questions = 0;

  constructor(waits: WaitBudget) {
    this.waits = waits;
  }

  /** Starts another run with nothing used. */
  begin(): void {
    this.waits.begin();
    this.#dollars = 0;
    this.#tokens = 0;
    this.#reserved.clear();
    this.questions = 0;
  }

  /** Returns what is used, and what requests of other documents will probably use. */
  spent(by: object): Spending {
    let dollars = this.#dollars;
    let tokens = this.#tokens;
    for (const [document, reserved] of this.#reserved) {
      if (document === by) continue;
      dollars += reserved.dollars;
      tokens += reserved.tokens;
    }
    return { dollars, tokens };
  }

  /** Reserves what the next request of a document will probably use, until it is spent or released. */
  reserve(by: object, spending: Spending): void {
    this.#reserved.set(by, spending);
  }

  release(by: object): void {
    this.#reserved.delete(by);
  }

  spend({ dollars, tokens }: Spending): void {
    this.#dollars += dollars;
    this.#tokens += tokens;
  }
}
