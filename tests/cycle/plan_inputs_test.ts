// What a plan is made from: whose word decides about a call, and what keeps it from being asked about.

import assert from "node:assert/strict";
import { gatherPlanInputs, type PlanSources, type Tools } from "../../cycle/plan/plan_inputs.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.ts";
import { parse } from "../../parser/mod.ts";
import { chatWith, FAKE_TOOLS, MemoryJournal } from "./harness.ts";

const [TOOL] = FAKE_TOOLS;

function sourcesOf(tools: Partial<Tools>): PlanSources {
  return {
    journal: new MemoryJournal(),
    settings: DEFAULT_SETTINGS,
    tools: {
      get: (name) => name === "known" ? TOOL : undefined,
      has: (name) => name === "known",
      closestMatch: () => null,
      ...tools,
    },
    decide: () => Promise.resolve({ decision: "approve", source: "chain" }),
    checkInput: () => [],
  };
}

const NONE = new Map();
const chat = () =>
  parse(new TextEncoder().encode(chatWith(["a", "known"], ["b", "server:tool"], ["c", "nobody"])));

Deno.test("a tool whose source was not asked waits for the source, and for that alone", async () => {
  const unaskedSource = (name: string) => name === "nobody" ? null : "the server";
  const { verdicts, toolKind } = await gatherPlanInputs(chat(), sourcesOf({ unaskedSource }), NONE, true);
  assert.equal(
    verdicts.get("a")?.source,
    "chain",
    "a tool that is there is judged, whatever its source says",
  );
  assert.deepEqual(verdicts.get("b"), {
    decision: "require_approval",
    source: "the server",
    detail: "its tool may come from the server, which is not there",
  });
  assert.equal(verdicts.has("c"), false, "nobody is asked about a tool that nobody has");
  assert.deepEqual(["known", "server:tool", "nobody"].map(toolKind), ["sync", "unasked", "unknown"]);
});

Deno.test("without any source a tool that is not there is unknown", async () => {
  const { verdicts, toolKind } = await gatherPlanInputs(chat(), sourcesOf({}), NONE, true);
  assert.deepEqual([...verdicts.keys()], ["a"]);
  assert.equal(toolKind("server:tool"), "unknown");
});
