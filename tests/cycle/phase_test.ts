// The phases of a run: its state table, row by row, and what no sequence of events may do.

import assert from "node:assert/strict";
import fc from "fast-check";
import {
  endOf,
  IDLE,
  mayStart,
  mayStep,
  next,
  type PhaseEvent,
  phaseOf,
  type RunPhase,
} from "../../cycle/run/phase.ts";
import { createStop } from "../../cycle/run/stop.ts";

const request = new AbortController();
const failed = createStop("failed", { problem: { code: "p", message: "P." } });
const later = createStop("diagnostics");
const cancelled = (...ids: string[]) => createStop("cancelled", { ids });

const STATES = {
  resting: IDLE,
  starting: { at: "starting", mustFindWork: false },
  answering: { at: "starting", mustFindWork: true },
  sending: { at: "sending", request },
  "ending the start": { at: "ending", phase: "starting", end: cancelled("a") },
  "ending the request": { at: "ending", phase: "sending", end: cancelled("a") },
  "failing at the start": { at: "ending", phase: "starting", end: failed },
  "failing at the request": { at: "ending", phase: "sending", end: failed },
  cancelled: { at: "over", end: cancelled("a") },
  failed: { at: "over", end: failed },
} satisfies Record<string, RunPhase>;

const EVENTS = {
  begin: { kind: "begin" },
  follow: { kind: "follow", mustFindWork: true },
  settle: { kind: "settle" },
  send: { kind: "send", request },
  replied: { kind: "replied" },
  stop: { kind: "stop", stop: later },
  cancel: { kind: "cancel", ids: ["b"] },
} satisfies Record<string, PhaseEvent>;

const both = cancelled("a", "b");
const ending = (phase: "starting" | "sending", end: typeof failed) => ({ at: "ending", phase, end });
const over = (end: typeof failed) => ({ at: "over", end });

/** What each event leads to; one that is not listed changes nothing. */
const TABLE: Record<keyof typeof STATES, Partial<Record<keyof typeof EVENTS, object>>> = {
  resting: {
    begin: STATES.starting,
    follow: STATES.answering,
    stop: over(later),
    cancel: over(cancelled("b")),
  },
  starting: {
    settle: IDLE,
    send: STATES.sending,
    stop: ending("starting", later),
    cancel: ending("starting", cancelled("b")),
  },
  answering: {
    settle: IDLE,
    send: STATES.sending,
    stop: ending("starting", later),
    cancel: ending("starting", cancelled("b")),
  },
  sending: { replied: IDLE, stop: ending("sending", later), cancel: ending("sending", cancelled("b")) },
  "ending the start": {
    settle: STATES.cancelled,
    stop: ending("starting", later),
    cancel: ending("starting", both),
  },
  "ending the request": {
    replied: STATES.cancelled,
    stop: ending("sending", later),
    cancel: ending("sending", both),
  },
  "failing at the start": { settle: STATES.failed },
  "failing at the request": { replied: STATES.failed },
  cancelled: { begin: STATES.starting, stop: over(later), cancel: over(both) },
  failed: { begin: STATES.starting },
};

for (const [name, state] of Object.entries(STATES)) {
  for (const [what, event] of Object.entries(EVENTS)) {
    const expected = TABLE[name as keyof typeof STATES][what as keyof typeof EVENTS];
    Deno.test(`run phase: the event ${what} while ${name} ${expected === undefined ? "changes nothing" : "changes the phase"}`, () => {
      assert.deepEqual(next(state, event), expected ?? state);
    });
  }
}

Deno.test("after any sequence of events, a run is in one of the known phases, and its phase defines which operations are allowed", () => {
  const shape = (phase: RunPhase) => phase.at === "ending" ? `ending ${phase.phase}` : phase.at;
  const known = new Set(Object.values(STATES).map((state) => shape(state)));
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...Object.values<PhaseEvent>(EVENTS)), { maxLength: 40 }),
      (events) => {
        let phase: RunPhase = IDLE;
        for (const event of events) {
          const before = phase;
          phase = next(phase, event);
          assert.ok(known.has(shape(phase)), shape(phase));
          // Nothing begins while something is under way, and nothing is forgotten before a person presses.
          if (!mayStep(before)) assert.equal(next(before, { kind: "begin" }), before);
          if (endOf(before) !== null && endOf(phase) === null) assert.equal(event.kind, "begin");
          assert.equal(mayStart(phase), endOf(phase) === null);
          assert.equal(mayStep(phase), phaseOf(phase) === null);
        }
      },
    ),
    { seed: 3, numRuns: 2000 },
  );
});
