// The plan as a table: a document and inputs on one side, the steps on the other. No step is executed.

import assert from "node:assert/strict";
import { planOne } from "../../cycle/plan/one_call.ts";
import { plan } from "../../cycle/plan/plan.ts";
import type { AnswersCheck, PlanInputs, Step } from "../../cycle/plan/types.ts";
import type { ToolKind } from "../../cycle/plan/resolution.ts";
import { DECLINED, DENIED, INTERRUPTED, REJECTED, unknownTool } from "../../cycle/plan/sentences.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import type { ApprovalDecision } from "../../tools/approval/types.ts";
import type { Effects } from "../../tools/definition.ts";
import { evaluateChat } from "../../prompt/evaluate.ts";
import { bench, block, callsOf, chatAnswered, chatWith } from "./harness.ts";

function read(text: string): Chat {
  return parse(new TextEncoder().encode(text));
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  echo: "sync",
  slow: "async",
  read: "sync",
  apply: "sync",
  onlydef: "definition-only",
};

function inputs(given: Partial<PlanInputs> = {}): PlanInputs {
  return {
    decisions: new Map(),
    invalid: new Map(),
    changed: new Map(),
    interrupted: new Map(),
    kept: new Map(),
    running: new Set(),
    toolKind: (name) => KINDS[name] ?? "unknown",
    effects: (name) => EFFECTS[name] ?? "writes",
    closestTool: () => null,
    maxConcurrent: 2,
    prefill: false,
    byPerson: true,
    ...given,
  };
}

/** c1 as a call of a tool that an earlier run had begun. */
function started(tool: string, effects = EFFECTS[tool]): PlanInputs["interrupted"] {
  return new Map([["c1", { tool, effects }]]);
}

/** What calls of tools may change, where that is not anything. */
const EFFECTS: Readonly<Record<string, Effects>> = { read: "reads", apply: "none" };

function decisions(
  answers: Readonly<Record<string, ApprovalDecision["decision"]>>,
): Map<string, ApprovalDecision> {
  return new Map(Object.entries(answers).map(([id, decision]) => [id, { decision, source: "test" }]));
}

/** Steps as short lines: `place c1 pending`, `run c2`, `notice throttled`, `rest pending c1`. */
function short(steps: readonly Step[]): string[] {
  return steps.map((step) => {
    switch (step.do) {
      case "place":
        return `place ${step.id} ${step.status}`;
      case "resolve":
        return `resolve ${step.id} ${step.because}`;
      case "notice":
        return `notice ${step.code}`;
      case "rest":
        return ["rest", step.at, ...step.ids].join(" ");
      case "send":
        return "send";
      default:
        return `${step.do} ${step.id}`;
    }
  });
}

interface Row {
  readonly text: string;
  readonly inputs?: Partial<PlanInputs>;
  readonly steps: readonly string[];
}

const one = (...blocks: string[]) => chatAnswered(chatWith(["c1", "echo"]), ...blocks);
const two = (...blocks: string[]) => chatAnswered(chatWith(["c1", "echo"], ["c2", "echo"]), ...blocks);
const aborted = `${chatWith(["c1", "echo"])}\n<!-- flemma:aborted: stopped -->\n`;

/** A block in which a server asks something. */
const asking = (status: string) =>
  `**Tool Result:** \`c1\`\n\n\`\`\`\`flemma:tool status=${status}\n\`\`\`yaml flemma:questions\nx:\n\`\`\`\n\`\`\`\`\n`;
const answered = (check: AnswersCheck) => ({ answers: new Map([["c1", check]]) });

const TABLE: Readonly<Record<string, Row>> = {
  "a server that asks waits for the person": {
    text: one(asking("pending")),
    inputs: answered({ can: "send" }),
    steps: ["rest pending c1"],
  },
  "approved answers run their call": {
    text: one(asking("approved")),
    inputs: answered({ can: "send" }),
    steps: ["run c1", "rest ran"],
  },
  "approved answers that do not fit": {
    text: one(asking("approved")),
    inputs: answered({ can: "wait", why: "x: is required." }),
    steps: ["demote c1", "notice invalid-answers", "rest pending c1"],
  },
  "approved answers to questions of which nothing is known": {
    text: one(asking("approved")),
    inputs: answered({ can: "nothing", why: "gone" }),
    steps: ["resolve c1 questions-gone", "rest resolved"],
  },
  "approved answers of a call that an earlier run began to send": {
    text: one(asking("approved")),
    inputs: { ...answered({ can: "send" }), interrupted: started("echo") },
    steps: ["demote c1", "notice was-running", "rest pending c1"],
  },
  "approved answers of a call that changed": {
    text: one(asking("approved")),
    inputs: { ...answered({ can: "send" }), changed: new Map([["c1", "person"]]) },
    steps: ["demote c1", "notice call-changed", "rest pending c1"],
  },
  "declined answers, which the server gets": {
    text: one(asking("rejected")),
    inputs: answered({ can: "send" }),
    steps: ["run c1", "rest ran"],
  },
  "declined answers, which the server does not wait for": {
    text: one(asking("rejected")),
    steps: ["resolve c1 rejected", "rest resolved"],
  },
  "declined answers of a call that an earlier run began to send": {
    text: one(asking("rejected")),
    inputs: { ...answered({ can: "send" }), interrupted: started("echo") },
    steps: ["resolve c1 rejected", "rest resolved"],
  },
  "declined answers of a tool that is gone": {
    text: one(asking("rejected")),
    inputs: { ...answered({ can: "send" }), toolKind: () => "unknown" },
    steps: ["resolve c1 rejected", "rest resolved"],
  },
  "declined answers of a tool whose source did not respond": {
    text: one(asking("rejected")),
    inputs: { ...answered({ can: "send" }), toolKind: () => "unasked" },
    steps: ["resolve c1 rejected", "rest resolved"],
  },
  "a pending block of an unknown tool, and one whose tool is only a definition": {
    text: chatAnswered(
      chatWith(["c1", "ghost"], ["c2", "onlydef"]),
      block("c1", "pending"),
      block("c2", "pending"),
    ),
    steps: [
      "resolve c1 unknown-tool",
      "notice unknown-tool",
      "resolve c2 not-executable",
      "notice not-executable",
      "rest resolved",
    ],
  },
  "an open call whose tool may come from a source that did not respond": {
    text: chatWith(["c1", "server:tool"]),
    inputs: { toolKind: () => "unasked" },
    steps: ["place c1 pending", "rest pending c1"],
  },
  "an approved call whose tool may come from a source that did not respond": {
    text: chatWith(["c1", "server:tool"], ["c2", "echo"]) + "\n@You:\n\n" + block("c1", "approved") + "\n" +
      block("c2", "approved"),
    inputs: { toolKind: (name) => name === "echo" ? "sync" : "unasked", unaskedSource: () => "the server" },
    steps: ["demote c1", "notice tool-source-missing", "run c2", "rest ran"],
  },
  "a call of a tool that runs alone delays the others of its reply, before and after it": {
    text: chatWith(["c1", "echo"], ["c2", "alone"], ["c3", "alone"]),
    inputs: {
      runsAlone: (name) => name === "alone",
      toolKind: () => "sync",
      decisions: decisions({ c2: "approve" }),
    },
    steps: ["resolve c1 put-off", "place c2 approved", "resolve c3 put-off", "run c2", "rest ran"],
  },
  "the model spoke last": { text: "@You:\nhi\n\n@Assistant:\nWell.\n", steps: ["rest last-word"] },
  "the model spoke last and continues from its turn": {
    text: "@You:\nhi\n\n@Assistant:\nWell.\n",
    inputs: { prefill: true },
    steps: ["send"],
  },
  "the reply is still empty": { text: "@You:\nhi\n\n@Assistant:\n\n", steps: ["send"] },
  "only messages that are never sent follow the model's last word": {
    text: "@You:\nhi\n\n@Assistant:\nWell.\n\n@System:\nBe brief.\n\n@Note:\nx\n",
    steps: ["rest last-word"],
  },
  "an interrupted reply without calls": {
    text: "@You:\nhi\n\n@Assistant:\n\n<!-- flemma:aborted: stopped -->\n",
    steps: ["rest last-word"],
  },
  "the model's last turn has a call whose result is in an earlier turn": {
    text: `@You:\nhi\n\n${
      block("c1", "", "x")
    }\n@Assistant:\nI will.\n\n**Tool Use:** \`echo\` (\`c1\`)\n\n\`\`\`json\n{}\n\`\`\`\n`,
    steps: ["send"],
  },
  "no calls": { text: "@You:\nhi\n", steps: ["send"] },
  "all calls have results": { text: one(block("c1", "", "x")), steps: ["send"] },
  "an error result is a result": { text: one(block("c1", "error", "x")), steps: ["send"] },
  "an open call without a decision": {
    text: chatWith(["c1", "echo"]),
    steps: ["place c1 pending", "rest pending c1"],
  },
  "an approved open call": {
    text: chatWith(["c1", "echo"]),
    inputs: { decisions: decisions({ c1: "approve" }) },
    steps: ["place c1 approved", "run c1", "rest ran"],
  },
  "a denied open call": {
    text: chatWith(["c1", "echo"]),
    inputs: { decisions: decisions({ c1: "deny" }) },
    steps: ["resolve c1 denied", "rest resolved"],
  },
  "an open call of an interrupted reply, even an approved one": {
    text: aborted,
    inputs: { decisions: decisions({ c1: "approve" }) },
    steps: ["resolve c1 aborted", "rest resolved"],
  },
  "an open call whose input the schema refuses, even an approved one": {
    text: chatWith(["c1", "echo"]),
    inputs: { decisions: decisions({ c1: "approve" }), invalid: new Map([["c1", ["/x: is missing"]]]) },
    steps: ["resolve c1 invalid-input", "notice invalid-input", "rest resolved"],
  },
  "an approved block whose input the schema refuses": {
    text: one(block("c1", "approved")),
    inputs: { invalid: new Map([["c1", ["/x: is missing"]]]) },
    steps: ["resolve c1 invalid-input", "notice invalid-input", "rest resolved"],
  },
  "a pending block whose input the schema refuses gets its error immediately": {
    text: one(block("c1", "pending")),
    inputs: { invalid: new Map([["c1", ["/x: is missing"]]]) },
    steps: ["resolve c1 invalid-input", "notice invalid-input", "rest resolved"],
  },
  "an approved open call with a result header that has no body": {
    text: `${chatWith(["c1", "echo"])}\n@You:\n\n**Tool Result:** \`c1\`\n\nmy words\n`,
    inputs: { decisions: decisions({ c1: "approve" }) },
    steps: ["place c1 pending", "notice unreadable-result", "rest pending c1"],
  },
  "an approved open call of an unknown tool gets its error immediately": {
    text: chatWith(["c1", "ghost"]),
    inputs: { decisions: decisions({ c1: "approve" }) },
    steps: ["resolve c1 unknown-tool", "notice unknown-tool", "rest resolved"],
  },
  "an open call of an unknown tool that nobody approved gets its error immediately": {
    text: chatWith(["c1", "ghost"]),
    steps: ["resolve c1 unknown-tool", "notice unknown-tool", "rest resolved"],
  },
  "an approved block of a tool that is only a definition": {
    text: callsOf("onlydef", { c1: "approved" }),
    steps: ["resolve c1 not-executable", "notice not-executable", "rest resolved"],
  },
  "an empty pending block": { text: one(block("c1", "pending")), steps: ["rest pending c1"] },
  "a filled pending block": { text: one(block("c1", "pending", "x")), steps: ["strip c1", "send"] },
  "a filled and an empty pending block": {
    text: two(block("c1", "pending", "x"), block("c2", "pending")),
    steps: ["strip c1", "rest pending c2"],
  },
  "a filled pending and a denied block": {
    text: two(block("c1", "pending", "x"), block("c2", "denied")),
    steps: ["strip c1", "resolve c2 denied", "rest resolved"],
  },
  "a protected block alone": {
    text: one(block("c1", "approved", "x")),
    steps: ["notice protected-content", "rest protected c1"],
  },
  "a protected block that autopilot reaches again": {
    text: one(block("c1", "approved", "x")),
    inputs: { byPerson: false },
    steps: ["rest protected c1"],
  },
  "a pending block takes precedence over a protected one": {
    text: two(block("c1", "approved", "x"), block("c2", "pending")),
    steps: ["notice protected-content", "rest pending c2"],
  },
  "approved calls take precedence over all waiting calls": {
    text: two(block("c1", "pending"), block("c2", "approved")),
    steps: ["run c2", "rest ran"],
  },
  "asynchronous calls keep their slots": {
    text: callsOf("slow", { c1: "approved", c2: "approved", c3: "approved" }),
    steps: ["run c1", "run c2", "notice throttled", "rest ran c3"],
  },
  "calls that already run take slots and are not touched": {
    text: callsOf("slow", { c1: "approved", c2: "approved", c3: "approved" }),
    inputs: { running: new Set(["c1"]), byPerson: false },
    steps: ["run c2", "rest ran c3"],
  },
  "a call that ends immediately frees its slot": {
    text: two(block("c1", "approved"), block("c2", "approved")),
    inputs: { maxConcurrent: 1 },
    steps: ["run c1", "run c2", "rest ran"],
  },
  "no limit": {
    text: callsOf("slow", { c1: "approved", c2: "approved", c3: "approved" }),
    inputs: { maxConcurrent: 0 },
    steps: ["run c1", "run c2", "run c3", "rest ran"],
  },
  "calls of a tool with its own limit take no slot of the others": {
    text: callsOf("slow", { c1: "approved", c2: "approved", c3: "approved", c4: "approved" }),
    inputs: { maxConcurrent: 1, ownLimit: () => 3, byPerson: false },
    steps: ["run c1", "run c2", "run c3", "rest ran c4"],
  },
  "running calls of a tool count against its own limit": {
    text: callsOf("slow", { c1: "approved", c2: "approved", c3: "approved" }),
    inputs: { running: new Set(["c1"]), ownLimit: () => 2, byPerson: false },
    steps: ["run c2", "rest ran c3"],
  },
  "running calls of other tools count against the setting": {
    text: callsOf("slow", { c1: "approved", c2: "approved" }),
    inputs: { maxConcurrent: 1, running: new Set(["c1"]), ownLimit: () => undefined, byPerson: false },
    steps: ["rest ran c2"],
  },
  "a call that waited in another document goes on": {
    text: one(block("c1", "pending")),
    inputs: { goOn: new Set(["c1"]) },
    steps: ["go-on c1", "run c1", "rest ran"],
  },
  "a call that waits in another document and cannot go on": {
    text: one(block("c1", "pending")),
    inputs: { goOn: new Set() },
    steps: ["rest pending c1"],
  },
  "a call that goes on when it is run again does not wait after a killed run": {
    text: one(block("c1", "approved")),
    inputs: { interrupted: started("echo"), continues: () => true },
    steps: ["run c1", "rest ran"],
  },
  "no request is sent while a call runs": {
    text: one(block("c1", "approved")),
    inputs: { running: new Set(["c1"]) },
    steps: ["rest running"],
  },
  "an approved call that was running when the program ended waits for the person": {
    text: one(block("c1", "approved")),
    inputs: { interrupted: started("echo") },
    steps: ["demote c1", "notice was-running", "rest pending c1"],
  },
  "an approved call that was running when the program ended, and whose block is gone": {
    text: chatWith(["c1", "echo"]),
    inputs: { interrupted: started("echo"), decisions: decisions({ c1: "approve" }) },
    steps: ["place c1 pending", "notice was-running", "rest pending c1"],
  },
  "an approved call that was running when the program ended, now executed manually from a pending block": {
    text: one(block("c1", "pending")),
    inputs: { interrupted: started("echo") },
    steps: ["notice was-running", "rest pending c1"],
  },
  "a call of a read-only tool runs again": {
    text: callsOf("read", { c1: "approved" }),
    inputs: { interrupted: started("read") },
    steps: ["run c1", "rest ran"],
  },
  "a call of a tool that only calculates runs again": {
    text: callsOf("apply", { c1: "approved" }),
    inputs: { interrupted: started("apply") },
    steps: ["run c1", "rest ran"],
  },
  "a call does not run again if its tool is read-only now but had effects when the call ran": {
    text: callsOf("read", { c1: "approved" }),
    inputs: { interrupted: started("read", "writes") },
    steps: ["demote c1", "notice was-running", "rest pending c1"],
  },
  "a call does not run again if its tool was read-only when the call ran but has effects now": {
    text: one(block("c1", "approved")),
    inputs: { interrupted: started("echo", "reads") },
    steps: ["demote c1", "notice was-running", "rest pending c1"],
  },
  "a call without recorded effects is treated as a call of the tool that has its name now": {
    text: callsOf("read", { c1: "approved" }),
    inputs: { interrupted: new Map([["c1", { tool: "read" }]]) },
    steps: ["run c1", "rest ran"],
  },
  "a renamed call without recorded effects is treated as a call of the tool it named before": {
    text: callsOf("read", { c1: "approved" }),
    inputs: { interrupted: new Map([["c1", { tool: "echo" }]]) },
    steps: ["demote c1", "notice was-running", "rest pending c1"],
  },
  "a call that ran and was then renamed to a harmless tool does not run again": {
    text: callsOf("read", { c1: "approved" }),
    inputs: { interrupted: started("echo") },
    steps: ["demote c1", "notice was-running", "rest pending c1"],
  },
  "a call that was edited after the person approved it": {
    text: one(block("c1", "approved")),
    inputs: { changed: new Map([["c1", "person"]]), decisions: decisions({ c1: "approve" }) },
    steps: ["demote c1", "notice call-changed", "rest pending c1"],
  },
  "a call that was edited after policy approved it, and that policy approves again": {
    text: one(block("c1", "approved")),
    inputs: { changed: new Map([["c1", "policy"]]), decisions: decisions({ c1: "approve" }) },
    steps: ["confirm c1", "run c1", "rest ran"],
  },
  "a call that was edited after policy approved it, and that policy now asks about": {
    text: one(block("c1", "approved")),
    inputs: { changed: new Map([["c1", "policy"]]), decisions: decisions({ c1: "require_approval" }) },
    steps: ["demote c1", "notice call-changed", "rest pending c1"],
  },
  "a call that was edited after policy approved it, and that policy now denies": {
    text: one(block("c1", "approved")),
    inputs: { changed: new Map([["c1", "policy"]]), decisions: decisions({ c1: "deny" }) },
    steps: ["resolve c1 denied", "rest resolved"],
  },
  "the last of several blocks of one call decides": {
    text: one(block("c1", "approved"), block("c1", "pending")),
    steps: ["rest pending c1"],
  },
  "if several calls have one id, only the last is planned, once": {
    text: chatWith(["c1", "echo"], ["c1", "slow"]),
    inputs: { decisions: decisions({ c1: "approve" }) },
    steps: ["place c1 approved", "run c1", "rest ran"],
  },
  "a block without a call": {
    text: `@You:\n\n${block("zz", "pending")}`,
    steps: ["send"],
  },
};

for (const [what, row] of Object.entries(TABLE)) {
  Deno.test(`plan: ${what}`, () => {
    assert.deepEqual(short(plan(read(row.text), inputs(row.inputs))), row.steps);
  });
}

Deno.test("an error result contains the text of the block, or that of the error marker, or else flemma's own message", () => {
  const texts = (text: string) =>
    plan(read(text), inputs()).flatMap((step) => step.do === "resolve" ? [step.text] : []);
  assert.deepEqual(texts(one(block("c1", "denied", "ignored"))), [DENIED]);
  assert.deepEqual(texts(one(block("c1", "rejected"))), [REJECTED]);
  assert.deepEqual(texts(one(block("c1", "rejected", "  not so\n"))), ["  not so\n"]);
  assert.deepEqual(texts(one(block("c1", "aborted"))), [INTERRUPTED]);
  assert.deepEqual(texts(aborted), ["stopped"]);
  assert.deepEqual(texts(chatAnswered(aborted, block("c1", "aborted"))), ["stopped"]);
});

Deno.test("a plan depends only on the document and the other inputs, and changes none of them", () => {
  const chat = read(two(block("c1", "approved")));
  const given = inputs({ decisions: decisions({ c2: "approve" }) });
  assert.deepEqual(plan(chat, given), plan(chat, given));
  assert.deepEqual([...given.decisions.keys()], ["c2"]);
});

Deno.test("executing one call turns a rejected or denied block into an error result, and runs a call with any other status", () => {
  const step = (
    text: string,
    kind: ToolKind = "sync",
    inputProblems: readonly string[] = [],
    answers: AnswersCheck | null = null,
  ) => {
    const chat = read(text);
    const call = chat.call("c1");
    assert.ok(call);
    return planOne(call, chat.result("c1"), {
      toolKind: () => kind,
      closestTool: () => "near",
      inputProblems,
      answers,
    });
  };
  assert.deepEqual(step(one(block("c1", "rejected", "no"))), {
    do: "resolve",
    id: "c1",
    because: "rejected",
    text: "no",
  });
  assert.equal(step(one(block("c1", "denied"))).do, "resolve");
  for (const suffix of ["pending", "approved", "aborted", "error", ""]) {
    assert.deepEqual(step(one(block("c1", suffix, "body"))), { do: "run", id: "c1" });
  }
  assert.deepEqual(step(chatWith(["c1", "echo"])), { do: "run", id: "c1" });
  assert.deepEqual(step(chatWith(["c1", "ghost"]), "unknown"), {
    do: "refuse",
    problem: { code: "unknown-tool", message: unknownTool("ghost", "near") },
  });
  assert.equal(step(chatWith(["c1", "echo"]), "sync", ["/x: is missing"]).do, "resolve");
  const check = (status: string, answers: AnswersCheck) => step(one(asking(status)), "sync", [], answers);
  for (const status of ["pending", "approved", "rejected"]) {
    assert.deepEqual(check(status, { can: "send" }), { do: "run", id: "c1" });
  }
  assert.deepEqual(check("pending", { can: "wait", why: "x." }), {
    do: "refuse",
    problem: { code: "invalid-answers", message: "The answers of c1 cannot be sent: x." },
  });
  const gone = check("pending", { can: "nothing", why: "gone" });
  assert.deepEqual(gone, { do: "resolve", id: "c1", because: "questions-gone", text: "gone" });
  const declined = check("rejected", { can: "nothing", why: "gone" });
  assert.deepEqual(declined, { do: "resolve", id: "c1", because: "rejected", text: DECLINED });
});

Deno.test("a call whose input is nested too deeply gets an error result, blocks no other call, and is sent without its input", async () => {
  const deep = `{"command":"true","x":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  const fits = `{"x":${"[".repeat(99)}${"]".repeat(99)}}`;
  const built = bench({
    text: chatWith(["c1", "echo", deep], ["c2", "echo", fits]),
    tools: { auto_approve: ["echo"], autopilot: { enabled: false, max_turns: 1, max_repeats: 3 } },
  });
  assert.deepEqual(built.store.chat.diagnostics.map(({ code, id }) => [code, id]), [[
    "tool_use_invalid_input",
    "c1",
  ]]);
  await built.cycle.advance();
  assert.deepEqual(built.ran, ["c2"]);
  assert.match(built.store.chat.result("c1")?.content ?? "", /nested more than 100 levels deep/);
  assert.equal((await built.cycle.executeOne("c1")).problem, undefined);
  assert.deepEqual(built.ran, ["c2"]);
  const { chat } = built.store;
  const prompt = await evaluateChat(chat, {
    document: null,
    environment: { cwd: "/", home: "/", variables: {} },
  });
  const inputs = prompt.history.flatMap(({ parts }) =>
    parts.flatMap((part) => part.kind === "tool_use" ? [part.inputText] : [])
  );
  assert.deepEqual(inputs, ["{}", fits]);
});

Deno.test("if an input contains a key twice, its call gets an error that names the key, and the document keeps its bytes", async () => {
  const twice = '{"command":"ls", "command":"rm x"}';
  const built = bench({
    text: chatWith(["c1", "echo", twice]),
    tools: { auto_approve: ["echo"], autopilot: { enabled: false, max_turns: 1, max_repeats: 3 } },
  });
  assert.deepEqual(built.store.chat.diagnostics.map(({ code }) => code), ["tool_use_invalid_input"]);
  await built.cycle.advance();
  assert.deepEqual(built.ran, []);
  assert.equal(built.store.chat.result("c1")?.status, "error");
  assert.match(built.store.chat.result("c1")?.content ?? "", /its key "command" occurs twice in one object/);
  assert.ok(built.store.text.includes(twice));
});

Deno.test("if two calls in a message have the same id, only the last runs, and the first causes a warning", async () => {
  const built = bench({
    text: chatWith(["c1", "echo", '{"text":"first"}'], ["c1", "echo", '{"text":"second"}']),
    tools: { auto_approve: ["echo"], autopilot: { enabled: false, max_turns: 1, max_repeats: 3 } },
  });
  await built.cycle.advance();
  assert.equal(built.store.chat.result("c1")?.content, "second");
  assert.deepEqual(
    built.store.chat.diagnostics.map(({ code, start }) => [code, start]),
    [["tool_use_duplicate", 7]],
  );
});
