// `flemma migrate` changes a document only when asked, shows what it would do, and reports calls that it activates.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

const OLD = "@System: Be brief.\n@You: Hello\n\n@Assistant: Hi\n@You:\n";
const NEW = "@System:\nBe brief.\n@You:\nHello\n\n@Assistant:\nHi\n@You:\n";

test("migrate works in place and as a filter, and a second migration changes nothing", async (place) => {
  place.write("a.chat", OLD);
  const piped = await place.run(["migrate"], { stdin: OLD });
  assert.deepEqual([piped.code, piped.stdout], [0, NEW]);
  const first = await place.exits(0, ["migrate", "a.chat"]);
  assert.equal(first.stderr.split("\n")[0], "a.chat: converted 3 role markers to the current format.");
  assert.match(first.stderr, /Write below the last @You:/);
  assert.equal(place.read("a.chat"), NEW);
  const second = await place.run(["migrate", "a.chat"]);
  assert.deepEqual([second.code, second.stderr], [
    0,
    "flemma: a.chat: already in the current format.\n",
  ]);
  assert.equal(place.read("a.chat"), NEW);
});

test("migrate --dry-run prints a unified diff and leaves the document unchanged", async (place) => {
  place.write("a.chat", OLD);
  const shown = await place.exits(0, ["migrate", "--dry-run", "a.chat"]);
  assert.match(shown.stdout, /^--- a\.chat\n\+\+\+ a\.chat\n@@ -1,5 \+1,8 @@\n-@System: Be brief\.\n/);
  assert.equal(place.read("a.chat"), OLD);
  const json = JSON.parse((await place.run(["migrate", "--dry-run", "--json", "a.chat"])).stdout);
  assert.deepEqual(json.forms[1], { kind: "marker", line: 2, role: "You" });
  assert.equal(json.diff, shown.stdout);
  const none = await place.run(["migrate", "--dry-run"], { stdin: NEW });
  assert.deepEqual([none.code, none.stdout], [0, ""]);
});

test("migrate refuses --json without --dry-run, and prints a piped document unchanged", async (place) => {
  const { code, stdout, stderr } = await place.run(["migrate", "--json"], { stdin: OLD });
  assert.deepEqual([code, stdout, stderr], [2, OLD, "flemma: --json needs --dry-run.\n"]);
});

test("migrate warns if a call that was plain text becomes active and already has an approval", async (place) => {
  const call =
    '**Tool Use:** `bash` (`call_1`)\n\n```json\n{"command": "ls", "label": "x", "timeout": null}\n```';
  const waiting = "**Tool Result:** `call_1`\n\n```flemma:tool status=approved\n```";
  place.write("a.chat", `@You: List.\n\n@Assistant: So.\n\n${call}\n\n@You: ${waiting}\n`);
  const { stderr } = await place.exits(0, ["migrate", "a.chat"]);
  assert.match(stderr, /The call call_1 \(line 14\) is approved in the text, so the next advance runs it\./);
  // Nothing ran, and what was alive before is not told again.
  assert.doesNotMatch(place.read("a.chat"), /status=approved\n.+\n```/);
  place.write("b.chat", place.read("a.chat").replace("@You:\nList.", "@You: List."));
  assert.doesNotMatch((await place.run(["migrate", "b.chat"])).stderr, /approved in the text/);
});

test("trust in a document stays valid after its migration", async (place) => {
  const block = '```json\n{"flemma": {"sandbox": false}}\n```\n';
  const doubted = async () => /flemma trust/.test((await place.run(["status", "a.chat"])).stdout);
  place.write("a.chat", `${block}@You: Hello\n`);
  assert.ok(await doubted());
  await place.exits(0, ["trust", "a.chat"]);
  await place.exits(0, ["migrate", "a.chat"]);
  assert.equal(place.read("a.chat"), `${block}@You:\nHello\n`);
  assert.ok(!await doubted());
});
