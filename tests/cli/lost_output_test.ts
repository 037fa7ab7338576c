// Standard output and the event file may fail at any moment without losing anything of the document.

import assert from "node:assert/strict";
import { readArguments } from "../../commands/line/arguments.ts";
import { wantsDocument } from "../../commands/main.ts";
import { callsDocument, testWithScene as test } from "./harness.ts";
import { textReply, withServer } from "./replies.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };
const APPROVED = callsDocument([{ id: "c1", command: "echo hello", status: "approved" }]);
const RESULT = APPROVED.replace("```flemma:tool status=approved\n```", "```\nhello\n```");

test("a paid reply is written to the document even if nobody reads the events any more", (place) =>
  withServer([textReply("I am well.")], async ({ env }) => {
    place.write("a.chat", "@You:\nHow are you?\n");
    const line = "{ flemma advance --json a.chat; echo $? > exit; } | head -c 1";
    const { stderr } = await place.shell(line, { env: { ...KEY, ...env } });
    assert.equal(place.read("a.chat"), "@You:\nHow are you?\n\n@Assistant:\nI am well.\n\n@You:\n\n", stderr);
    assert.equal(place.read("exit"), "1\n");
    assert.match(
      stderr,
      /^The reply is complete.*\nflemma: The reader of standard output closed it\. .*without events\.$/m,
    );
  }));

test("a tool's result is written to the document even if the disk is too full for events on standard output or in a file", async (place) => {
  for (const events of ["--json > /dev/full", "--events /dev/full"]) {
    place.write("a.chat", APPROVED);
    const { stdout, stderr } = await place.shell(
      `flemma advance --no-autopilot a.chat ${events}; echo $? >&2`,
    );
    assert.equal(stdout, "");
    assert.equal(place.read("a.chat"), RESULT, stderr);
    assert.match(stderr, /^Continue with: .*\nflemma: .*No space left.* without events\.\n1\n$/m, events);
  }
});

test("events are never written into the document itself, under any name for it", async (place) => {
  place.write("a.chat", APPROVED);
  await Deno.symlink("a.chat", place.path("link"));
  for (const args of [["a.chat", "--events", "link"], ["link", "--events", "./a.chat"]]) {
    const { stderr } = await place.exits(2, ["advance", ...args]);
    assert.match(stderr, /names the document itself/);
  }
  await Deno.link(place.path("a.chat"), place.path("hard"));
  for (
    const line of [
      "flemma advance a.chat --events hard",
      "flemma advance hard --events a.chat",
      "flemma advance a.chat --events /dev/fd/3 3>> a.chat",
      "flemma advance a.chat --events fd:3 3>> a.chat",
      "flemma advance a.chat --events fd:3 3>> hard",
      "flemma advance a.chat --json >> a.chat",
      "flemma advance a.chat --json >> hard",
    ]
  ) {
    const { code, stderr } = await place.shell(line);
    assert.equal(code, 2, line);
    assert.match(stderr, /names the document itself/, line);
    assert.equal(place.read("a.chat"), APPROVED, line);
  }
  assert.equal((await place.shell("flemma advance a.chat --events stderr 2>> a.chat")).code, 2);
  assert.doesNotMatch(place.read("a.chat"), /"event"/);
  place.write("a.chat", APPROVED);
  const named = await place.run(["advance", "--name", "a.chat", "--events", "a.chat"], {
    stdin: "@You:\nHi\n",
  });
  assert.deepEqual([named.code, named.stdout], [2, "@You:\nHi\n"]);
  assert.equal(place.read("a.chat"), APPROVED);
});

test("if the output's disk is full, flemma says so and does not report a fault of the program", async (place) => {
  place.write("a.chat", APPROVED);
  for (const args of ["--help", "--version", "status a.chat", "advance --no-autopilot < a.chat"]) {
    const { stdout, stderr } = await place.shell(`flemma ${args} > /dev/full; echo $? >&2`);
    assert.equal(stdout, "");
    assert.match(stderr, /flemma: Standard output cannot be written: No space left[^\n]*\.\n1\n$/, args);
    assert.doesNotMatch(stderr, /Internal error|\n {4}at /, args);
  }
});

test("a run continues even if the disk is too full for its messages", async (place) => {
  const { code, stdout } = await place.shell("flemma advance --no-autopilot - 2> /dev/full", {
    stdin: APPROVED,
  });
  assert.deepEqual([code, stdout], [0, RESULT]);
});

Deno.test("at a terminal too, status --last reports the messages of the last filter run and needs no document", () => {
  const wants = (...words: string[]) => {
    const read = readArguments(words, () => false);
    assert.ok(read.kind === "run");
    return wantsDocument(read.arguments);
  };
  assert.equal(wants("status", "--last"), false);
  assert.equal(wants("status", "--json"), true);
});
