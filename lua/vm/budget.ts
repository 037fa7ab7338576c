// Limits of a document's Lua, and how much of them is used.

import { processorTime } from "./processor_time.ts";
import { plural } from "../../base/text/plural.ts";

export interface LuaLimits {
  /** Number of instructions of the interpreter, and of equivalent steps of functions outside Lua. */
  readonly steps: number;
  /**
   * Seconds of processor time, so that the load of the machine does not count; elapsed time if that is not available.
   */
  readonly seconds: number;
  /** Number of bytes that Lua uses at the same time. */
  readonly memory: number;
  /** Number of bytes of one string, and of the whole output of templates. */
  readonly string: number;
  /** Number of nested calls. */
  readonly depth: number;
  /** Number of nested includes. */
  readonly includes: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: LuaLimits = {
  steps: 10_000_000,
  seconds: 2,
  memory: 64 * MIB,
  string: 16 * MIB,
  depth: 200,
  includes: 32,
};

/** The limit that a cell exceeded, by name; `broken` if the interpreter failed. */
export type Excess = "steps" | "seconds" | "memory" | "string" | "depth" | "includes" | "broken";

/**
 * The budget of one evaluation. Once a limit is exceeded, the budget stays closed until the next `open`, so no `pcall`
 * of the document can continue after that.
 */
export class Budget {
  readonly limits: LuaLimits;
  /**
   * Number of bytes that Lua uses. The number is kept between evaluations, because values that they created stay in
   * memory.
   */
  memory = 0;
  #left: number;
  /** Milliseconds left, as of the last measurement. */
  #time = 0;
  readonly #processorTime: () => number | null;
  /** The last measurement of the running work: `performance.now`, and processor time. */
  #measured: { readonly at: number; readonly spent: number | null } = { at: 0, spent: null };
  #exceeded: Excess | null = null;

  /** Creates a budget. `clock` returns the milliseconds of processor time of this thread, null if unknown. */
  constructor(limits: LuaLimits, clock: () => number | null = processorTime) {
    this.limits = limits;
    this.#processorTime = clock;
    this.#left = limits.steps;
  }

  /** The limit that ended the evaluation, or null. */
  get exceeded(): Excess | null {
    return this.#exceeded;
  }

  /** True if the interpreter is unusable. */
  get broken(): boolean {
    return this.#exceeded === "broken";
  }

  /** Starts an evaluation with the full budget. */
  open(): void {
    this.#left = this.limits.steps;
    this.#time = this.limits.seconds * 1000;
    if (!this.broken) this.#exceeded = null;
  }

  /** Starts the clock: work of the evaluation begins. */
  resume(): void {
    this.#measured = { at: performance.now(), spent: this.#processorTime() };
  }

  /** Stops the clock until the next `resume`, because time outside Lua is not charged. */
  pause(): void {
    this.#charge(performance.now());
  }

  /** Charges the processor time since the last measurement. */
  #charge(at: number): void {
    const { at: before, spent: spentBefore } = this.#measured;
    const spent = spentBefore === null ? null : this.#processorTime();
    this.#time -= spent === null || spentBefore === null ? at - before : spent - spentBefore;
    this.#measured = { at, spent };
  }

  /**
   * True if enough time has elapsed to read processor time. Reading it costs more than most steps, and it cannot
   * exceed elapsed time.
   */
  #isLate(): boolean {
    const now = performance.now();
    if (now - this.#measured.at <= this.#time) return false;
    this.#charge(now);
    return this.#time < 0;
  }

  close(reason: Excess): void {
    this.#exceeded ??= reason;
  }

  /** Charges steps and checks the clock; false if the evaluation must end. */
  spend(steps: number): boolean {
    if (this.#exceeded !== null) return false;
    this.#left -= steps;
    if (this.#left < 0) this.#exceeded = "steps";
    else if (this.#isLate()) this.#exceeded = "seconds";
    return this.#exceeded === null;
  }

  /** Returns the exceeded limit, as the end of a sentence. */
  sentence(): string {
    const { limits } = this;
    switch (this.#exceeded) {
      case "steps":
        return `it took more than ${limits.steps} steps`;
      case "seconds":
        return `it took more than ${plural(limits.seconds, "second")}`;
      case "memory":
        return `it needs more than ${limits.memory / MIB} MiB of memory`;
      case "string":
        return `it created a string of more than ${limits.string / MIB} MiB`;
      case "depth":
        return `it nested function calls more than ${limits.depth} levels deep`;
      case "includes":
        return `it nested includes more than ${limits.includes} levels deep`;
      case "broken":
        return "it crashed the interpreter";
      case null:
        return "no limit was reached";
    }
  }
}
