// What a step announces and where the cursor goes: each thing once until a person starts another step.

import assert from "node:assert/strict";
import { Announcements } from "../../cycle/execute/announcements.ts";
import type { Step } from "../../cycle/plan/types.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { block, chatAnswered, chatWith, TextStore } from "./harness.ts";

const decided = { decision: "deny", source: "rules" } as const;
const place = (id: string, status: "pending" | "approved"): Step => ({
  do: "place",
  id,
  status,
  decided: { decision: "require_approval", source: "list" },
});
const resolve = (id: string, denied: boolean): Step => ({
  do: "resolve",
  id,
  because: "denied",
  text: "No.",
  ...(denied ? { decided } : {}),
});

const CALLS = chatWith(["a", "echo"], ["b", "echo"]);
const TEXT = chatAnswered(CALLS, block("a", "pending"), block("b", "pending"));

/** Each event on one line. */
function shown(event: CycleEvent): string {
  switch (event.event) {
    case "cursor":
      return `cursor ${event.line}`;
    case "notice":
      return `notice ${event.code}${event.id === undefined ? "" : ` of ${event.id}`}`;
    case "approval:pending":
      return `pending ${event.id} ${event.name} ${event.preview} ${event.source}${
        event.diff === undefined ? "" : ` ${event.diff}`
      }`;
    case "approval:denied":
      return `denied ${event.id} ${event.name} ${event.preview} ${event.source}`;
    default:
      return event.event;
  }
}

function reported(text: string, ...diffs: (string | null)[]) {
  const store = new TextStore(text);
  const events: string[] = [];
  const announcements = new Announcements(store, {
    preview: ({ id }) => `<${id}>`,
    ...(diffs.length === 0 ? {} : { diff: () => diffs[0]! }),
    emit: (event) => events.push(shown(event)),
  });
  return { announcements, store, take: () => events.splice(0) };
}

const lineOf = (text: string, id: string) =>
  text.split("\n").findIndex((line) => line.startsWith(`**Tool Result:** \`${id}\``)) + 1;

Deno.test("each kind of step is announced by its own event, except that calls which run without a question are not announced", () => {
  const rows: readonly (readonly [Step, readonly string[]])[] = [
    [place("a", "pending"), ["pending a echo <a> list", `cursor ${lineOf(TEXT, "a")}`]],
    [place("a", "approved"), []],
    [{ do: "demote", id: "b", source: "call-changed" }, ["pending b echo <b> call-changed"]],
    [resolve("b", true), ["denied b echo <b> rules"]],
    [resolve("b", false), []],
    [resolve("gone", true), ["denied gone   rules"]],
    [{ do: "notice", code: "throttled", message: "M." }, ["notice throttled"]],
    [{ do: "notice", code: "call-changed", message: "M.", id: "a" }, ["notice call-changed of a"]],
    [{ do: "run", id: "a" }, []],
    [{ do: "send" }, []],
    [place("gone", "pending"), []],
  ];
  for (const [step, events] of rows) {
    const { announcements, take } = reported(TEXT);
    announcements.steps([step]);
    assert.deepEqual(take(), events, JSON.stringify(step));
  }
});

Deno.test("until a person starts another step, each call is announced once, and the cursor goes to the first new waiting block", () => {
  const { announcements, take } = reported(TEXT);
  const all = [
    "pending b echo <b> document",
    "pending a echo <a> document",
    `cursor ${lineOf(TEXT, "a")}`,
  ];
  announcements.waiting(["b", "a"]);
  assert.deepEqual(take(), all);
  announcements.waiting(["b", "a"]);
  announcements.steps([place("b", "approved"), place("a", "pending")]);
  assert.deepEqual(take(), []);
  announcements.cursorTo(["b"]);
  announcements.cursorTo(["gone"]);
  announcements.cursor(lineOf(TEXT, "b"));
  assert.deepEqual(take(), [`cursor ${lineOf(TEXT, "b")}`]);
  announcements.cursorTo(["a"]);
  take();
  announcements.startOver();
  announcements.waiting(["b", "a"]);
  assert.deepEqual(take(), all, "the cursor is at that line already");
});

Deno.test("a waiting call is announced together with the file change it would make, if it would make one", () => {
  for (const diff of [null, "+ line"]) {
    const { announcements, take } = reported(TEXT, diff);
    announcements.waiting(["a"]);
    assert.equal(take()[0], `pending a echo <a> document${diff === null ? "" : " + line"}`);
  }
});
