// The requests of a session that have finished, for what a run reports at its end.

import type { CycleEvent, UsageRecord } from "../../cycle/types.ts";

/** Collects what each finished request used, and passes every event on. */
export class FinishedRequests {
  readonly #records: UsageRecord[] = [];
  readonly #emit: (event: CycleEvent) => void;
  #replies = 0;

  constructor(emit: ((event: CycleEvent) => void) | undefined) {
    this.#emit = emit ?? (() => {});
  }

  /** Takes an event of the session. */
  readonly emit = (event: CycleEvent): void => {
    if (event.event === "text") this.#replies++;
    if (event.event === "request:finished" && event.record !== undefined) this.#records.push(event.record);
    this.#emit(event);
  };

  /** Begins to count. The returned function gives what came since then. */
  since(): () => { readonly records: readonly UsageRecord[]; readonly replied: boolean } {
    const [records, replies] = [this.#records.length, this.#replies];
    return () => ({ records: this.#records.slice(records), replied: this.#replies > replies });
  }
}
