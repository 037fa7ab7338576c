// The phase of a run as a pure state machine: one value, so that its parts cannot contradict each other.

import { stopped } from "./stop.ts";
import type { Stop } from "../types.ts";

/** The part of a press that something else has to wait for. */
export type Phase = "starting" | "sending";

export type Course =
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

export type CourseEvent =
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

export const RESTING: Course = { at: "resting" };

/** The state after an event. An event that has no meaning in a state changes nothing. */
export function next(course: Course, event: CourseEvent): Course {
  switch (event.kind) {
    case "press":
      return mayPress(course) ? { at: "starting", mustFindWork: false } : course;
    case "follow":
      return course.at === "resting" ? { at: "starting", mustFindWork: event.mustFindWork } : course;
    case "settle":
      return phaseOf(course) === "starting" ? afterPhase(course) : course;
    case "send":
      return course.at === "starting" ? { at: "sending", request: event.request } : course;
    case "replied":
      return phaseOf(course) === "sending" ? afterPhase(course) : course;
    case "stop":
      return ended(course, event.stop);
    case "cancel":
      return ended(course, stopped("cancelled", { ids: event.ids }));
  }
}

/** Whether a person's press is taken now. */
export function mayPress(course: Course): boolean {
  return phaseOf(course) === null;
}

/** Whether calls may be started. */
export function mayStart(course: Course): boolean {
  return course.at !== "ending" && course.at !== "over";
}

/** The phase that is under way; null when a press would be taken. */
export function phaseOf(course: Course): Phase | null {
  if (course.at === "ending") return course.phase;
  return course.at === "starting" || course.at === "sending" ? course.at : null;
}

/** Why the run stopped; null while only the document decides that. */
export function endOf(course: Course): Stop | null {
  return course.at === "ending" || course.at === "over" ? course.end : null;
}

function afterPhase(course: Course): Course {
  return course.at === "ending" ? { at: "over", end: course.end } : RESTING;
}

/** The first stop counts, but a failure replaces a cancel, and several cancels name all their calls. */
function ended(course: Course, end: Stop): Course {
  const before = endOf(course);
  const merged = before === null || before.reason === "cancelled" ? joined(before, end) : before;
  const phase = phaseOf(course);
  return phase === null ? { at: "over", end: merged } : { at: "ending", phase, end: merged };
}

function joined(before: Stop | null, end: Stop): Stop {
  return end.reason === "cancelled" ? { ...end, ids: [...before?.ids ?? [], ...end.ids] } : end;
}
