// A state folder that refuses writes: what a call did stays its result, and one notice names the folder.

import assert from "node:assert/strict";
import { openChat } from "../../agent/open.ts";
import type { OwnTool } from "../../agent/types.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { answer, answered, asking, type Place, sessionOf, testInPlace as test } from "./place.ts";

/** What the program records, each in its own part of the state folder. */
const PARTS = ["journal", "seen", "undo", "changes", "overwrite", "started", "commands", "running", "usage"];

/** Puts a file where the program has a folder, which refuses everything below it, also to root. */
function refuse(place: Place, parts: readonly string[]): void {
  const state = `${place.folder}/state/flemma`;
  for (const part of parts) {
    try {
      Deno.renameSync(`${state}/${part}`, `${place.folder}/gone-${crypto.randomUUID()}`);
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    }
    Deno.mkdirSync(state, { recursive: true });
    Deno.writeTextFileSync(`${state}/${part}`, "");
  }
}

/** Changes a file while a command runs, so that it has something to record. */
const OWN: OwnTool = {
  name: "own",
  description: "Answers.",
  input_schema: { type: "object" },
  execute: () => ({ success: true, output: "own answer" }),
};

/** Begins a command that waits, so that the state folder can change while it runs. */
const BEGUN = "echo begun; until [ -e gate ]; do sleep 0.02; done; ";

const CALLS: readonly (readonly [tool: string, input: object, output: RegExp, file: string])[] = [
  ["read", { label: "x", path: "notes.txt", offset: null, limit: null }, /old words/, "old words\n"],
  ["write", { label: "x", path: "notes.txt", content: "new\n" }, /Wrote 4 bytes/, "new\n"],
  [
    "edit",
    { label: "x", path: "notes.txt", oldText: "old", newText: "new" },
    /Replaced|Edited|new words/,
    "new words\n",
  ],
  [
    "bash",
    { label: "x", command: BEGUN + "echo new > notes.txt; echo printed", timeout: null },
    /printed/,
    "new\n",
  ],
  ["own", {}, /own answer/, "old words\n"],
];

for (const [tool, input, output, file] of CALLS) {
  for (const parts of [...PARTS.map((part) => [part]), PARTS]) {
    const what = parts.length > 1 ? "anything" : parts[0];
    test(`${tool} keeps its result if the state folder does not take ${what}`, async (place) => {
      place.settings("tools: { autopilot: false, auto_approve_sandboxed: false }\n");
      place.write("notes.txt", "old words\n");
      place.write("a.chat", answered(asking(["c1", tool, JSON.stringify(input)]), answer("c1", "approved")));
      const events: CycleEvent[] = [];
      let refused = false;
      const emit = (event: CycleEvent) => {
        events.push(event);
        if (event.event !== (tool === "bash" ? "tool:output" : "tool:executing") || refused) return;
        refused = true;
        refuse(place, parts);
        place.write("gate", "");
      };
      const { environment } = place;
      {
        await using session = sessionOf(await openChat("a.chat", { environment, tools: [OWN], emit }));
        // A call that the program could not record or start did nothing; that is not the case here.
        const stop = await session.advance();
        assert.notEqual(stop.reason, "failed", JSON.stringify(stop.problem));
        const result = session.chat.result("c1");
        assert.equal(result?.status, null, result?.content);
        assert.match(result?.content ?? "", output);
        assert.equal(place.read("notes.txt"), file);
      }
      assert.match(place.read("a.chat"), startsWithResult);
      const notices = events.flatMap((event) =>
        event.event === "notice" && /state/.test(`${event.code}${event.message}`) ? [event.message] : []
      );
      assert.ok(notices.length <= 1, notices.join("\n"));
      for (const notice of notices) {
        assert.ok(notice.includes(`${place.folder}/state/flemma`), notice);
        assert.match(notice, /XDG_STATE_HOME/);
      }
      if (parts.includes("journal")) assert.equal(notices.length, 1, "the end of the call is not recorded");
    });
  }
}

const startsWithResult = /\*\*Tool Result:\*\* `c1`(?: \(error\))?\n\n```\n[^`]/;

for (const parts of [["started"], ["journal"], PARTS]) {
  test(`bash starts nothing and names the state folder if it does not take ${parts.join(", ")}`, async (place) => {
    place.settings("tools: { autopilot: false, auto_approve_sandboxed: false }\n");
    const command = { label: "x", command: "touch ran", timeout: null };
    place.write(
      "a.chat",
      answered(asking(["c1", "bash", JSON.stringify(command)]), answer("c1", "approved")),
    );
    const emit = ({ event }: CycleEvent) => {
      if (event === "tool:executing") refuse(place, parts);
    };
    await using session = sessionOf(await openChat("a.chat", { environment: place.environment, emit }));
    await session.advance();
    const result = session.chat.result("c1");
    assert.equal(result?.status, "error");
    assert.ok(result?.content.includes(`${place.folder}/state/flemma`), result?.content);
    assert.throws(() => place.read("ran"), Deno.errors.NotFound);
  });
}

for (const [tool, input] of CALLS.filter(([tool]) => tool === "write" || tool === "edit")) {
  test(`${tool} changes nothing and names the state folder if it cannot take the lock of the file`, async (place) => {
    place.settings("tools: { autopilot: false }\n");
    place.write("notes.txt", "old words\n");
    place.write("a.chat", answered(asking(["c1", tool, JSON.stringify(input)]), answer("c1", "approved")));
    const emit = ({ event }: CycleEvent) => {
      if (event === "tool:executing") refuse(place, ["locks"]);
    };
    await using session = sessionOf(await openChat("a.chat", { environment: place.environment, emit }));
    await session.advance();
    const result = session.chat.result("c1");
    assert.equal(result?.status, "error");
    assert.match(
      result?.content ?? "",
      new RegExp(`not changed, because the state folder ${place.folder}/state/flemma`),
    );
    assert.equal(place.read("notes.txt"), "old words\n");
  });
}

test("after a run without a journal the result counts, and nothing runs twice", async (place) => {
  place.settings("tools: { autopilot: false, auto_approve_sandboxed: false }\n");
  const command = { label: "x", command: BEGUN + "echo ran >> log", timeout: null };
  place.write("a.chat", answered(asking(["c1", "bash", JSON.stringify(command)]), answer("c1", "approved")));
  const { environment } = place;
  const emit = ({ event }: CycleEvent) => {
    if (event !== "tool:output") return;
    refuse(place, ["journal"]);
    place.write("gate", "");
  };
  {
    await using session = sessionOf(await openChat("a.chat", { environment, emit }));
    await session.advance();
  }
  Deno.removeSync(`${place.folder}/state/flemma/journal`);
  await using session = sessionOf(await openChat("a.chat", { environment }));
  await session.advance();
  assert.equal(place.read("log"), "ran\n");
});
