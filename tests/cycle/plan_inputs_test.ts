// The inputs of a plan: whose word decides about a call, and what keeps it from being asked about.

import assert from "node:assert/strict";
import { gatherPlanInputs, type PlanSources, type Tools } from "../../cycle/plan/plan_inputs.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { callsToCheck, questions } from "../../cycle/plan/questions.ts";
import { parse } from "../../parser/mod.ts";
import { block, callsOf, chatAnswered, chatWith, FAKE_TOOLS, MemoryJournal } from "./harness.ts";

const [TOOL] = FAKE_TOOLS;

function sourcesOf(tools: Partial<Tools>): PlanSources {
  return {
    journal: new MemoryJournal(),
    settings: DEFAULT_SETTINGS,
    tools: {
      get: (name) => name === "known" || name === "replaced" ? TOOL : undefined,
      has: (name) => name === "known" || name === "replaced",
      closestMatch: () => null,
      ...tools,
    },
    decide: () => Promise.resolve({ decision: "approve", source: "chain" }),
    checkInput: () => [],
  };
}

const NONE = new Map();
const chat = () =>
  parse(
    new TextEncoder().encode(
      chatWith(["a", "known"], ["b", "server:tool"], ["c", "nobody"], ["d", "replaced"]),
    ),
  );

Deno.test("a call whose tool source has not responded waits, and other calls are decided", async () => {
  const unaskedSource = (name: string) => name === "nobody" || name === "known" ? null : "the server";
  const { decisions, toolKind } = await gatherPlanInputs(chat(), sourcesOf({ unaskedSource }), NONE, true);
  assert.equal(
    decisions.get("a")?.source,
    "chain",
    "a tool that no source may replace is judged",
  );
  assert.equal(decisions.get("d")?.source, "the server", "one that a missing source may replace is not");
  assert.deepEqual(decisions.get("b"), {
    decision: "require_approval",
    source: "the server",
    detail: "its tool may come from the server, which is not available",
  });
  assert.equal(decisions.has("c"), false, "nobody is asked about an unknown tool");
  const kinds = ["known", "server:tool", "nobody", "replaced"].map(toolKind);
  assert.deepEqual(kinds, ["sync", "unasked", "unknown", "unasked"]);
});

Deno.test("if there are no tool sources, a call of a missing tool gets the error that its tool is unknown", async () => {
  const { decisions, toolKind } = await gatherPlanInputs(chat(), sourcesOf({}), NONE, true);
  assert.deepEqual([...decisions.keys()], ["a", "d"]);
  assert.equal(toolKind("server:tool"), "unknown");
});

Deno.test("an input is validated only if its call is open, pending or approved, and its block contains no text: one row per condition", () => {
  const checked = (text: string, running: readonly string[] = []) =>
    callsToCheck(parse(new TextEncoder().encode(text)), new Set(running)).map(({ id }) => id).join();
  const call = chatWith(["a", "known"]);
  const rows: readonly (readonly [string, string])[] = [
    [call, "a"],
    [chatAnswered(call, block("a", "approved")), "a"],
    [chatAnswered(call, block("a", "pending")), "a"],
    [chatAnswered(call, block("a", "approved", "mine")), ""],
    [chatAnswered(call, block("a", "pending", "mine")), ""],
    [chatAnswered(call, block("a", "rejected")), ""],
    [chatAnswered(call, block("a", "denied")), ""],
    [chatAnswered(call, block("a")), ""],
    [chatAnswered(call, block("a", "", "out")), ""],
    [`${call}\n<!-- flemma:aborted: stopped -->\n`, ""],
    [`${call}\n<!-- flemma:aborted: stopped -->\n\nand more\n`, "a"],
    // Of two calls with one id the last counts.
    [chatWith(["a", "known"], ["a", "other"]), "a"],
  ];
  for (const [text, ids] of rows) assert.equal(checked(text), ids, text);
  assert.equal(checked(call, ["a"]), "", "what runs was checked");
});

Deno.test("the resolvers decide about an open call, and about a call whose input changed after policy had approved the call", () => {
  const approved = callsOf("known", { a: "approved" });
  const open = chatWith(["a", "known"]);
  const asked = (text: string, given: Partial<Parameters<typeof questions>[1]> = {}) =>
    questions(parse(new TextEncoder().encode(text)), {
      invalid: new Map(),
      changed: new Map(),
      running: new Set<string>(),
      toolKind: () => "sync",
      ...given,
    }).length === 1;
  assert.ok(asked(open));
  assert.ok(!asked(open, { invalid: new Map([["a", ["wrong"]]]) }));
  assert.ok(!asked(open, { running: new Set(["a"]) }));
  for (const kind of ["sync", "async", "unasked"] as const) {
    assert.ok(asked(open, { toolKind: () => kind }), kind);
  }
  for (const kind of ["definition-only", "unknown"] as const) {
    assert.ok(!asked(open, { toolKind: () => kind }), kind);
  }
  assert.ok(!asked(approved));
  assert.ok(asked(approved, { changed: new Map([["a", "policy"]]) }));
  assert.ok(!asked(approved, { changed: new Map([["a", "person"]]) }));
  assert.ok(!asked(approved, { changed: new Map([["b", "policy"]]) }));
});
