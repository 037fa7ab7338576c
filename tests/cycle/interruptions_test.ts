// Whatever a person does at any moment of a run: nothing runs twice or after a stop, and the next step works.

import assert from "node:assert/strict";
import fc from "fast-check";
import type { SendOutcome } from "../../cycle/types.ts";
import { type Bench, bench, block, chatAnswered, chatWith } from "./harness.ts";

const IDS = ["a", "b", "c"];
const STATUSES = ["none", "pending", "approved"] as const;

/** Lets other work go on for a while. */
async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) await Promise.resolve();
}

/** Settles after some ticks, or when it is cancelled. */
async function lasting(count: number, signal: AbortSignal): Promise<boolean> {
  for (let tick = 0; tick < count && !signal.aborted; tick++) await Promise.resolve();
  return signal.aborted;
}

const ACTIONS = {
  advance: (built: Bench) => built.cycle.advance(),
  send: (built: Bench) => built.cycle.send(),
  "execute b": (built: Bench) => built.cycle.executeOne("b"),
  "approve a": async (built: Bench) => void await built.cycle.approve("a"),
  cancel: (built: Bench) => Promise.resolve(void built.cycle.cancel()),
  "cancel a": (built: Bench) => Promise.resolve(void built.cycle.cancelCall("a")),
  "cancel all": (built: Bench) => Promise.resolve(built.cycle.cancelAll()),
};
type Action = keyof typeof ACTIONS;

const action = fc.constantFrom(...Object.keys(ACTIONS) as Action[]);
const plan = fc.record({
  calls: fc.array(
    fc.record({ tool: fc.constantFrom("echo", "slow"), status: fc.constantFrom(...STATUSES) }),
    {
      maxLength: 3,
    },
  ),
  lengths: fc.tuple(fc.nat(40), fc.nat(40)),
  actions: fc.array(fc.tuple(fc.nat(60), action), { minLength: 1, maxLength: 5 }),
});

Deno.test("whatever the person does at any moment, no call runs twice or after a cancellation, and the next step works", async () => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ calls, lengths: [call, request], actions }) => {
      const uses = chatWith(...calls.map(({ tool }, at) => [IDS[at]!, tool] as const));
      const blocks = calls.flatMap(({ status }, at) => status === "none" ? [] : [block(IDS[at]!, status)]);
      const text = calls.length === 0 ? "@You:\nHello?\n" : chatAnswered(uses, ...blocks);
      let requests = 0;
      let mayStart = true;
      const built: Bench = bench({
        text,
        tools: { auto_approve: ["echo"] },
        run: async (_, signal) => {
          assert.ok(mayStart, "a call began after everything was cancelled");
          return { success: !await lasting(call, signal), output: "x" };
        },
        send: async (signal): Promise<SendOutcome> => {
          assert.ok(mayStart, "a request began after everything was cancelled");
          assert.equal(++requests, 1, "one request at a time");
          const cancelled = await lasting(request, signal);
          requests--;
          return cancelled
            ? { kind: "cancelled" }
            : { kind: "completed", reply: "empty", usage: null, warnings: [] };
        },
      });
      const done: Promise<unknown>[] = [built.cycle.advance()];
      for (const [wait, name] of actions) {
        await ticks(wait);
        mayStart = name !== "cancel all" &&
          (mayStart || name === "advance" || name === "send" || name === "execute b");
        done.push(ACTIONS[name](built));
      }
      await Promise.all(done);
      await built.cycle.quiet();
      assert.deepEqual([built.cycle.running, built.cycle.requesting, requests], [[], false, 0]);
      assert.deepEqual([...built.journal.started()], [], "each start has its end");
      const twice = built.ran.filter((id, at) => built.ran.indexOf(id) !== at);
      const byHand = actions.filter(([, name]) => name === "execute b").length;
      assert.ok(twice.every((id) => id === "b") && twice.length <= byHand, built.ran.join());
      mayStart = true;
      assert.notEqual((await built.cycle.advance()).problem?.code, "busy");
    }),
    { seed: 20261129, numRuns: 1000 },
  );
});
