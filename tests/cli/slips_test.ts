// Small mistakes and omissions on the command line: each answer says what was meant.

import assert from "node:assert/strict";
import { callsDocument, testWithScene as test } from "./harness.ts";

test("each slip is answered by its cause and the command that was meant", async (place) => {
  place.write("a.chat", "@You:\nHi\n");
  const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["replay", "run", "a.chat"], 1, /a\.chat has no calls with results, so nothing was replayed/],
    [
      ["session", "set", "temperature"],
      2,
      /"temperature" is not KEY=VALUE\.\n.*session set temperature=VALUE/,
    ],
    [["session", "set", "temperature", "1"], 2, /session set temperature=1/],
    [["new", "notes"], 0, /Created notes\.chat, because documents end in \.chat\./],
    [["new", "notes"], 1, /notes\.chat already exists/],
    [
      ["approve", "a.chat", "notes.chat"],
      2,
      /notes\.chat is a document.*\n.*flemma review a\.chat notes\.chat$/m,
    ],
    [["reject", "a.chat", "c1", "./notes.chat"], 2, /\.\/notes\.chat is a document, not a call of a\.chat/],
    [["approve", "a.chat", "gone.chat"], 1, /No call has the id gone\.chat/],
  ];
  for (const [args, code, words] of rows) {
    const finished = await place.run(args);
    assert.equal(finished.code, code, `${args.join(" ")}: ${finished.stderr}`);
    assert.match(finished.stderr, words, args.join(" "));
  }
  assert.ok(place.exists("notes.chat"));
  const shown = await place.run(["show"], { stdin: "" });
  assert.deepEqual([shown.code, shown.stdout], [2, ""], shown.stderr);
  assert.match(shown.stderr, /show needs a FILE/);
});

test("a replayed document in a subfolder works in the copy of the folder that it names", async (place) => {
  Deno.mkdirSync(place.path("project/.git"), { recursive: true });
  Deno.mkdirSync(place.path("project/chats"));
  place.arrive("project/here.txt", "here\n");
  await place.exits(0, ["new", "project/chats/a.chat", "--bare", "-m", "Look."]);
  const [, head = ""] = /^(```json[^]*?```\n)/.exec(place.read("project/chats/a.chat")) ?? [];
  place.arrive(
    "project/chats/a.chat",
    `${head}\n${callsDocument([{ id: "c1", command: "cat here.txt", status: "approved" }])}`,
  );
  place.settings("tools: { auto_approve: [bash] }\ntrust: { approvals: anywhere }\n");
  await place.exits(0, ["advance", "--only", "c1", "project/chats/a.chat", "--no-sandbox"]);
  assert.match(place.read("project/chats/a.chat"), /\nhere\n/);
  const { stderr } = await place.exits(0, ["replay", "run", "project/chats/a.chat", "--no-sandbox"]);
  assert.match(stderr, /1 as recorded/);
});
