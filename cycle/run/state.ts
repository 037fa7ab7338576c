// The state of a run: its phase, its autopilot, and the calls whose tools returned control to the user.

import type { Problem } from "../../base/problem.ts";
import { type Autopilot, type AutopilotEffect, type AutopilotEvent, react } from "./autopilot.ts";
import { IDLE, next, type PhaseEvent, type RunPhase } from "./phase.ts";
import { createStopBy } from "./stop.ts";
import type { Stop } from "../types.ts";

export class CycleState {
  #autopilot: Autopilot;
  #phase: RunPhase = IDLE;
  /** Calls whose tools returned control to the user since the last step that the user started. */
  #yielded: string[] = [];

  constructor(autopilot: Autopilot) {
    this.#autopilot = autopilot;
  }

  get autopilot(): Autopilot {
    return this.#autopilot;
  }

  get phase(): RunPhase {
    return this.#phase;
  }

  get yielded(): readonly string[] {
    return this.#yielded;
  }

  /** True if the current step continues; to be checked after every await. */
  get starting(): boolean {
    return this.#phase.at === "starting";
  }

  begin(): void {
    this.move({ kind: "begin" });
    this.#yielded = [];
  }

  noteYield(id: string): void {
    this.#yielded.push(id);
  }

  move(event: PhaseEvent): void {
    this.#phase = next(this.#phase, event);
  }

  react(event: AutopilotEvent): AutopilotEffect {
    const { autopilot, effect } = react(this.#autopilot, event);
    this.#autopilot = autopilot;
    return effect;
  }

  /** Ends the run. It always returns null, for `return state.stop(…)`. */
  stop(stop: Stop): null {
    this.move({ kind: "stop", stop });
    return null;
  }

  fail(problem: Problem): null {
    return this.stop(createStopBy(problem));
  }

  /** Ends the run with a problem. It always returns false, for `return state.failed(…)`. */
  failed(problem: Problem): false {
    this.fail(problem);
    return false;
  }
}
