// Replies of a script for the helpers that its calls ask.

import assert from "node:assert/strict";
import { parseReplayScript } from "../../providers/replay/script.ts";
import { ScriptTurns } from "../../providers/replay/turns.ts";

const view = (first: string) => ({ system: "", user: first, first, results: new Map(), tools: [] });
const ask = (name: unknown, question: unknown, tool = "ask_document") => ({
  tool_use: { id: `c-${name}`, name: tool, input: { name, question } },
});
const text = (words: string) => [{ text: words }];

Deno.test("each helper gets the replies with its name, in their order, and the caller all others", () => {
  const turns = new ScriptTurns({
    replies: [
      {
        reply: [
          ask("one", "Task one."),
          ask("two", " Task two.\n"),
          ask(null, "Task"),
          ask("bash", "x", "bash"),
        ],
      },
      { document: "two", reply: text("two, first") },
      { document: "one", reply: text("one, first") },
      { reply: text("caller") },
      { document: "two", expect: { user: { contains: "never" } }, reply: text("two, second") },
    ],
  });
  const take = (first: string) => {
    const taken = turns.take(view(first));
    return typeof taken === "string" ? taken : JSON.stringify(taken.reply);
  };
  assert.match(take("Task one."), /Task two/, "nobody has asked it yet, so this is the caller");
  assert.match(take("Task one.\n\n@./file"), /one, first/);
  assert.match(take("Task two."), /two, first/);
  assert.equal(turns.given, 3);
  assert.equal(
    take("Task one."),
    "replay: the document one has only 1 replies, so none is left for this request",
  );
  assert.match(
    take("Task two."),
    /^replay: reply 5 was not sent because the last user text does not contain/,
  );
  assert.match(take("x"), /caller/, "a call of another tool asks no helper");
  assert.equal(take("Go."), "replay: the script has only 2 replies, so none is left for this request");
  assert.equal(turns.given, 4);
});

Deno.test("with order any, a reply for a helper fits only its requests", () => {
  const turns = new ScriptTurns({
    order: "any",
    replies: [
      { document: "one", reply: text("helper") },
      { expect: { user: { contains: "Go" } }, reply: [ask("one", "Task.")] },
    ],
  });
  assert.equal(turns.take(view("Task.")), "replay: no reply of the script is for this request");
  assert.ok(typeof turns.take(view("Go.")) !== "string");
  for (const _ of [1, 2]) {
    assert.deepEqual(turns.take(view("Task.")), { document: "one", reply: text("helper") });
  }
});

Deno.test("a script without names gives each request the next reply", () => {
  const turns = new ScriptTurns({ replies: [{ reply: [ask("one", "Task.")] }, { reply: text("next") }] });
  for (const first of ["Go.", "Task."]) assert.ok(typeof turns.take(view(first)) !== "string");
});

Deno.test("the name of a helper in a script must be text", async () => {
  const parsed = await parseReplayScript("- { document: 1, reply: [] }");
  assert.match(parsed.ok ? "" : parsed.problem.message, /replies\[0\]\.document: must be text/);
});
