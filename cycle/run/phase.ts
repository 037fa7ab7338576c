// The phase of a run as a pure state machine. The phase is one value, so that its parts cannot contradict each other.

import { createStop } from "./stop.ts";
import type { Stop } from "../types.ts";

/** The phases during which no other step may start. */
export type Phase = "starting" | "sending";

export type RunPhase =
  /** No step is in progress. Calls may run; when the last one ends, the next step may be due. */
  | { readonly at: "resting" }
  /** A step is planned and written and its calls are started; calls that end meanwhile trigger no step. */
  | {
    readonly at: "starting";
    /**
     * True directly after a reply with calls arrived: sending again without running a call would only repeat that
     * reply.
     */
    readonly mustFindWork: boolean;
  }
  /** A request runs, and aborting `request` ends it. No call runs meanwhile. */
  | { readonly at: "sending"; readonly request: AbortController }
  /** Nothing more may start. The current phase has not ended, so no step may begin yet either. */
  | { readonly at: "ending"; readonly phase: Phase; readonly end: Stop }
  /** Nothing more may start until the user starts a step. Running calls still finish. */
  | { readonly at: "over"; readonly end: Stop };

export type PhaseEvent =
  /** The user starts a step. */
  | { readonly kind: "begin" }
  /** The autopilot starts the next step. */
  | { readonly kind: "follow"; readonly mustFindWork: boolean }
  /** The step has started all its calls, and sends nothing. */
  | { readonly kind: "settle" }
  /** The step ends in a request. */
  | { readonly kind: "send"; readonly request: AbortController }
  /** The request has ended, and its reply is in the document. */
  | { readonly kind: "replied" }
  /** An error or a condition ends the run. */
  | { readonly kind: "stop"; readonly stop: Stop }
  /** The user cancels, possibly before any call ran. */
  | { readonly kind: "cancel"; readonly ids: readonly string[] };

export const IDLE: RunPhase = { at: "resting" };

/** Returns the state after an event. An event that does not apply to a state changes nothing. */
export function next(current: RunPhase, event: PhaseEvent): RunPhase {
  switch (event.kind) {
    case "begin":
      return mayStep(current) ? { at: "starting", mustFindWork: false } : current;
    case "follow":
      return current.at === "resting" ? { at: "starting", mustFindWork: event.mustFindWork } : current;
    case "settle":
      return phaseOf(current) === "starting" ? afterPhase(current) : current;
    case "send":
      return current.at === "starting" ? { at: "sending", request: event.request } : current;
    case "replied":
      return phaseOf(current) === "sending" ? afterPhase(current) : current;
    case "stop":
      return ended(current, event.stop);
    case "cancel":
      return ended(current, createStop("cancelled", { ids: event.ids }));
  }
}

/** True if the user may start a step now. */
export function mayStep(current: RunPhase): boolean {
  return phaseOf(current) === null;
}

export function mayStart(current: RunPhase): boolean {
  return current.at !== "ending" && current.at !== "over";
}

/** Returns the phase in progress; null if a step may start. */
export function phaseOf(current: RunPhase): Phase | null {
  if (current.at === "ending") return current.phase;
  return current.at === "starting" || current.at === "sending" ? current.at : null;
}

/** Returns why the run stopped; null if that depends only on the document. */
export function endOf(current: RunPhase): Stop | null {
  return current.at === "ending" || current.at === "over" ? current.end : null;
}

function afterPhase(current: RunPhase): RunPhase {
  return current.at === "ending" ? { at: "over", end: current.end } : IDLE;
}

/**
 * Combines two reasons to stop. The first reason stays, but a failure replaces a cancel, and two cancels become one
 * that names all their calls.
 */
function ended(current: RunPhase, end: Stop): RunPhase {
  const before = endOf(current);
  const merged = before === null || before.reason === "cancelled" ? joined(before, end) : before;
  const phase = phaseOf(current);
  return phase === null ? { at: "over", end: merged } : { at: "ending", phase, end: merged };
}

function joined(before: Stop | null, end: Stop): Stop {
  return end.reason === "cancelled" ? { ...end, ids: [...before?.ids ?? [], ...end.ids] } : end;
}
