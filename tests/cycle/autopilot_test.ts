// The autopilot's state table, row by row, and what no sequence of events may do.

import assert from "node:assert/strict";
import fc from "fast-check";
import { type Autopilot, type AutopilotEvent, react, startAutopilot } from "../../cycle/run/autopilot.ts";
import type { AutopilotState } from "../../cycle/types.ts";

const on = (state: AutopilotState, turns = 0): Autopilot => ({ state, turns, enabled: true, maxTurns: 2 });
const nothing = { open: false, actionable: false, blocked: false, yielded: false };
const check = (found: Partial<typeof nothing>): AutopilotEvent => ({
  kind: "check",
  check: { ...nothing, ...found },
});

const ROWS: readonly (readonly [Autopilot, AutopilotEvent, AutopilotState, string | null, number])[] = [
  [on("sending"), { kind: "response", hasCalls: false }, "sending", null, 0],
  [on("sending", 1), { kind: "response", hasCalls: true }, "armed", "advance", 2],
  [on("sending", 2), { kind: "response", hasCalls: true }, "idle", "limit", 3],
  [on("idle"), { kind: "worked" }, "armed", null, 0],
  [on("idle"), { kind: "protected" }, "paused", "pause", 0],
  [on("idle"), check({ actionable: true }), "idle", null, 0],
  [on("paused"), check({}), "paused", null, 0],
  [on("armed"), check({ open: true, actionable: true }), "armed", null, 0],
  [on("armed"), check({ actionable: true, blocked: true }), "sending", "advance", 0],
  [on("armed"), check({ blocked: true }), "paused", "pause", 0],
  [on("armed"), check({ yielded: true }), "paused", "pause", 0],
  [on("armed"), check({ yielded: true, actionable: true }), "sending", "advance", 0],
  [on("armed"), check({}), "sending", "advance", 0],
  [on("paused"), { kind: "executed-one" }, "armed", null, 0],
  [on("idle"), { kind: "executed-one" }, "idle", null, 0],
  [on("sending", 2), { kind: "cancel" }, "idle", null, 0],
];

for (const [before, event, state, effect, turns] of ROWS) {
  const what = event.kind === "check" ? JSON.stringify(event.check) : JSON.stringify(event);
  Deno.test(`autopilot in the state ${before.state} changes to ${state} after the event ${what}`, () => {
    const after = react(before, event);
    assert.deepEqual([after.autopilot.state, after.effect, after.autopilot.turns], [state, effect, turns]);
  });
}

const anyEvent: fc.Arbitrary<AutopilotEvent> = fc.oneof(
  fc.record({ kind: fc.constant("response" as const), hasCalls: fc.boolean() }),
  fc.record({
    kind: fc.constant("check" as const),
    check: fc.record({
      open: fc.boolean(),
      actionable: fc.boolean(),
      blocked: fc.boolean(),
      yielded: fc.boolean(),
    }),
  }),
  fc.constantFrom<AutopilotEvent>(
    { kind: "worked" },
    { kind: "protected" },
    { kind: "executed-one" },
    { kind: "cancel" },
  ),
);

Deno.test("if autopilot is disabled, it stays idle and never requests a step", () => {
  fc.assert(
    fc.property(fc.array(anyEvent), (events) => {
      let autopilot = startAutopilot({ enabled: false, max_turns: 1 });
      for (const event of events) {
        const after = react(autopilot, event);
        assert.equal(after.effect, null);
        autopilot = after.autopilot;
      }
      assert.deepEqual(autopilot, startAutopilot({ enabled: false, max_turns: 1 }));
    }),
    { seed: 3 },
  );
});

Deno.test("until the person cancels, autopilot continues after at most max_turns replies", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60 }), fc.integer({ min: 0, max: 4 }), (events, limit) => {
      let autopilot = startAutopilot({ enabled: true, max_turns: limit });
      let taken = 0;
      for (const event of events) {
        const after = react(autopilot, event);
        if (event.kind === "cancel") taken = 0;
        if (event.kind === "response" && after.effect === "advance") taken++;
        assert.ok(taken <= limit);
        autopilot = after.autopilot;
      }
    }),
    { seed: 4 },
  );
});
