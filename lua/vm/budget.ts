// How much a document's Lua may use, and the count of what it has used.

import { processorTime } from "./processor_time.ts";

export interface Limits {
  /** Instructions of the interpreter, and equal steps of the functions that are not Lua. */
  readonly steps: number;
  /** On a processor, so that what else the machine does costs a document nothing; on the clock where that cannot be told. */
  readonly seconds: number;
  /** Bytes that Lua holds at once. */
  readonly memory: number;
  /** Bytes of one string, and of all text that templates put out. */
  readonly string: number;
  /** Calls inside calls. */
  readonly depth: number;
  /** Includes inside includes. */
  readonly includes: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: Limits = {
  steps: 10_000_000,
  seconds: 2,
  memory: 64 * MIB,
  string: 16 * MIB,
  depth: 200,
  includes: 32,
};

/** A limit of the cell, by name. */
export type Excess = "steps" | "seconds" | "memory" | "string" | "depth" | "includes" | "broken";

/**
 * The running account of one evaluation. Once a limit was exceeded the account stays closed until the next `open`,
 * which is why no `pcall` of the document can go on after it.
 */
export class Budget {
  readonly limits: Limits;
  /** Bytes that Lua holds; outlives evaluations, as what they made does. */
  memory = 0;
  #left: number;
  /** Milliseconds that are left while nothing runs. */
  #time = 0;
  readonly #processorTime: () => number | null;
  /** The last look at the running work: the clock of `performance.now`, and the account of the processor. */
  #measured: { readonly at: number; readonly spent: number | null } = { at: 0, spent: null };
  #exceeded: Excess | null = null;

  /** `clock` tells the milliseconds that this thread has had a processor, null when that cannot be told. */
  constructor(limits: Limits, clock: () => number | null = processorTime) {
    this.limits = limits;
    this.#processorTime = clock;
    this.#left = limits.steps;
  }

  /** The limit that ended the evaluation, or null. */
  get exceeded(): Excess | null {
    return this.#exceeded;
  }

  /** True when the interpreter can no longer be used at all. */
  get broken(): boolean {
    return this.#exceeded === "broken";
  }

  /** Begins an evaluation with the full allowance. */
  open(): void {
    this.#left = this.limits.steps;
    this.#time = this.limits.seconds * 1000;
    if (!this.broken) this.#exceeded = null;
  }

  /** Lets the clock run: work of the evaluation begins. */
  resume(): void {
    this.#measured = { at: performance.now(), spent: this.#processorTime() };
  }

  /** Stops the clock until the next `resume`: what happens outside Lua is not charged. */
  pause(): void {
    this.#charge(performance.now());
  }

  /** Takes off what the work had of a processor since the last look. */
  #charge(at: number): void {
    const { at: before, spent: spentBefore } = this.#measured;
    const spent = spentBefore === null ? null : this.#processorTime();
    this.#time -= spent === null || spentBefore === null ? at - before : spent - spentBefore;
    this.#measured = { at, spent };
  }

  /** Reading the account costs more than most steps, and no time is over before the clock says so. */
  #isLate(): boolean {
    const now = performance.now();
    if (now - this.#measured.at <= this.#time) return false;
    this.#charge(now);
    return this.#time < 0;
  }

  close(reason: Excess): void {
    this.#exceeded ??= reason;
  }

  /** Takes steps off the account and looks at the running clock; false when the evaluation has to end. */
  spend(steps: number): boolean {
    if (this.#exceeded !== null) return false;
    this.#left -= steps;
    if (this.#left < 0) this.#exceeded = "steps";
    else if (this.#isLate()) this.#exceeded = "seconds";
    return this.#exceeded === null;
  }

  /** One sentence about the limit that was exceeded. */
  sentence(): string {
    const { limits } = this;
    switch (this.#exceeded) {
      case "steps":
        return `it took more than ${limits.steps} steps`;
      case "seconds":
        return `it took more than ${limits.seconds} seconds`;
      case "memory":
        return `it needs more than ${limits.memory / MIB} MiB of memory`;
      case "string":
        return `it made a text of more than ${limits.string / MIB} MiB`;
      case "depth":
        return `it called functions more than ${limits.depth} deep`;
      case "includes":
        return `it included files more than ${limits.includes} deep`;
      case "broken":
        return "it drove the interpreter into a fault";
      case null:
        return "no limit was reached";
    }
  }
}
