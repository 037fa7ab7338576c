// The cost of documents with many calls, counted in work because time says nothing on a busy machine.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { plan } from "../../cycle/plan/plan.ts";
import { gatherPlanInputs } from "../../cycle/plan/plan_inputs.ts";
import { parse } from "../../parser/mod.ts";
import { block, chatAnswered, chatWith, FAKE_TOOLS, MemoryJournal } from "./harness.ts";

/** How often text was decoded, JSON parsed and a digest made while something was done. */
async function work(done: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const counted = <T extends object, K extends keyof T>(owner: T, name: K) => {
    const real = owner[name] as (...values: unknown[]) => unknown;
    owner[name] = function (this: unknown, ...values: unknown[]) {
      count++;
      return real.apply(this, values);
    } as T[K];
    return () => owner[name] = real as T[K];
  };
  const undo = [
    counted(TextDecoder.prototype, "decode"),
    counted(JSON, "parse"),
    counted(crypto.subtle, "digest"),
  ];
  try {
    await done();
  } finally {
    for (const each of undo) each();
  }
  return count;
}

/** Parses a document of so many calls that wait and plans it. */
async function planned(count: number): Promise<unknown> {
  const ids = Array.from({ length: count }, (_, at) => `c${at}`);
  const open = chatWith(...ids.map((id) => [id, "known", '{"a":1}'] as const));
  const chat = parse(new TextEncoder().encode(chatAnswered(open, ...ids.map((id) => block(id, "pending")))));
  const [tool] = FAKE_TOOLS;
  const inputs = await gatherPlanInputs(
    chat,
    {
      journal: new MemoryJournal(),
      settings: DEFAULT_SETTINGS,
      tools: { get: () => tool, has: () => true, closestMatch: () => null },
      decide: () => Promise.resolve({ decision: "require_approval", source: "chain" }),
      checkInput: () => [],
    },
    new Map(),
    true,
  );
  return plan(chat, inputs);
}

Deno.test("twice as many calls take at most twice as much work to read, decide and plan", async () => {
  await planned(1);
  const [once, twice] = [await work(() => planned(400)), await work(() => planned(800))];
  assert.ok(once >= 400, `counted ${once}`);
  assert.ok(twice <= once * 2.2, `${once} for 400 calls, ${twice} for 800`);
});
