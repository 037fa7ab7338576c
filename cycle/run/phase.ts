// The phase of a run as a pure state machine: one value, so that its parts cannot contradict each other.

import { stopped } from "./stop.ts";
import type { Stop } from "../types.ts";

/** The part of a press that something else has to wait for. */
export type Phase = "starting" | "sending";

export type RunPhase =
  /** No press is being taken. Calls may run; when the last of them ends, the next press may be due. */
  | { readonly at: "resting" }
  /** A press is planned and written and its calls are started; calls that end meanwhile start nothing. */
  | {
    readonly at: "starting";
    /** A reply with calls has just come, so sending immediately would only send it back. */
    readonly mustFindWork: boolean;
  }
  /** A request runs; aborting `request` ends it. No call runs meanwhile. */
  | { readonly at: "sending"; readonly request: AbortController }
  /** Nothing more may start, but the current phase is not over, so nobody can press yet. */
  | { readonly at: "ending"; readonly phase: Phase; readonly end: Stop }
  /** Nothing more may start until somebody presses. Calls that run come to their end. */
  | { readonly at: "over"; readonly end: Stop };

export type PhaseEvent =
  /** A person pressed. */
  | { readonly kind: "press" }
  /** The autopilot takes the next press. */
  | { readonly kind: "follow"; readonly mustFindWork: boolean }
  /** The press has started all it starts, and sends nothing. */
  | { readonly kind: "settle" }
  /** The press ends in a request. */
  | { readonly kind: "send"; readonly request: AbortController }
  /** The request is over and its reply is in the document. */
  | { readonly kind: "replied" }
  /** Something ends what the press set going. */
  | { readonly kind: "stop"; readonly stop: Stop }
  /** The person stopped something, possibly before any call ran. */
  | { readonly kind: "cancel"; readonly ids: readonly string[] };

export const IDLE: RunPhase = { at: "resting" };

/** The state after an event. An event that has no meaning in a state changes nothing. */
export function next(current: RunPhase, event: PhaseEvent): RunPhase {
  switch (event.kind) {
    case "press":
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
      return ended(current, stopped("cancelled", { ids: event.ids }));
  }
}

/** Whether a person's press is taken now. */
export function mayStep(current: RunPhase): boolean {
  return phaseOf(current) === null;
}

/** Whether calls may be started. */
export function mayStart(current: RunPhase): boolean {
  return current.at !== "ending" && current.at !== "over";
}

/** The phase that is under way; null when a press would be taken. */
export function phaseOf(current: RunPhase): Phase | null {
  if (current.at === "ending") return current.phase;
  return current.at === "starting" || current.at === "sending" ? current.at : null;
}

/** Why the run stopped; null while only the document decides that. */
export function endOf(current: RunPhase): Stop | null {
  return current.at === "ending" || current.at === "over" ? current.end : null;
}

function afterPhase(current: RunPhase): RunPhase {
  return current.at === "ending" ? { at: "over", end: current.end } : IDLE;
}

/** The first stop counts, but a failure replaces a cancel, and several cancels name all their calls. */
function ended(current: RunPhase, end: Stop): RunPhase {
  const before = endOf(current);
  const merged = before === null || before.reason === "cancelled" ? joined(before, end) : before;
  const phase = phaseOf(current);
  return phase === null ? { at: "over", end: merged } : { at: "ending", phase, end: merged };
}

function joined(before: Stop | null, end: Stop): Stop {
  return end.reason === "cancelled" ? { ...end, ids: [...before?.ids ?? [], ...end.ids] } : end;
}
