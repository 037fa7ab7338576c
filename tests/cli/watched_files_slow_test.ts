// A watched file changed by a command: a message, an event, and the status afterwards.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

const CALL = (command: string) =>
  "@You:\nRun it.\n\n@Assistant:\n**Tool Use:** `bash` (`call_1`)\n\n" +
  `\`\`\`json\n${JSON.stringify({ command, timeout: null })}\n\`\`\`\n` +
  "\n@You:\n\n**Tool Result:** `call_1`\n\n```flemma:tool status=approved\n```\n";

test("a change of a watched file is reported in a line, as an event, and in status until the next change", async (place) => {
  place.settings("sandbox: { policy: { rw_paths: [urn:flemma:buffer:path] } }\n");
  place.write("a.chat", CALL("echo registry=http://evil > .npmrc"));
  const ran = await place.run(["execute", "--json", "a.chat", "call_1"]);
  const events = ran.stdout.trim().split("\n").map((line) => JSON.parse(line));
  const path = place.path(".npmrc");
  const changed = events.find(({ event }) => event === "file:changed");
  assert.deepEqual(
    changed,
    { event: "file:changed", path, id: "call_1", change: "made", obeyed_by: "npm and pnpm" },
    ran.stderr,
  );
  const sentence =
    `A command created ${path}, which npm and pnpm would act on. Check it before you start that program.`;
  assert.ok(ran.stderr.includes(sentence), ran.stderr);
  assert.ok((await place.run(["status", "a.chat"])).stdout.includes(sentence));
  const status = JSON.parse((await place.run(["status", "--json", "a.chat"])).stdout);
  assert.deepEqual(status.files_changed, [{ path, change: "made", obeyed_by: "npm and pnpm" }]);
});

test("before write changes a watched file, the person is asked, even if write is on the list of approved tools", async (place) => {
  place.settings(
    "tools: { auto_approve: [write, read] }\nsandbox: { policy: { rw_paths: [urn:flemma:buffer:path] } }\n",
  );
  const call = (path: string) =>
    "@You:\nRun it.\n\n@Assistant:\n**Tool Use:** `write` (`call_1`)\n\n" +
    `\`\`\`json\n${JSON.stringify({ path, content: "x" })}\n\`\`\`\n`;
  for (
    const [path, fate] of [[".npmrc", /will wait for you \(a watched file\)/], [
      "plain",
      /will run \(your settings\)/,
    ]] as const
  ) {
    place.write("a.chat", call(path));
    assert.match((await place.run(["status", "a.chat"])).stdout, fate);
  }
});

test("file:changed names files changed by write and edit, and files that a command changed after the document read them", async (place) => {
  place.settings("sandbox: { policy: { rw_paths: [urn:flemma:buffer:path] } }\n");
  const calls = [
    ["c1", "read", { path: "seen.txt", offset: null, limit: null }],
    ["c2", "read", { path: "kept.txt", offset: null, limit: null }],
    ["c3", "bash", {
      command: "echo more >> seen.txt; touch kept.txt; echo x > unseen.txt",
      timeout: null,
    }],
    ["c4", "edit", { path: "seen.txt", oldText: "more", newText: "less" }],
    ["c5", "write", { path: "new.txt", content: "x" }],
  ] as const;
  const uses = calls.map(([id, name, input]) =>
    `**Tool Use:** \`${name}\` (\`${id}\`)\n\n\`\`\`json\n${JSON.stringify(input)}\n\`\`\`\n`
  );
  const results = calls.map(([id]) =>
    `**Tool Result:** \`${id}\`\n\n\`\`\`flemma:tool status=approved\n\`\`\`\n`
  );
  place.write("a.chat", `@Assistant:\n${uses.join("\n")}\n@You:\n\n${results.join("\n")}`);
  for (const name of ["seen.txt", "kept.txt"]) place.write(name, "text\n");
  const reported: unknown[] = [];
  for (const [id] of calls) {
    const ran = await place.run(["execute", "--json", "a.chat", id]);
    const events = ran.stdout.trim().split("\n").map((line) => JSON.parse(line));
    reported.push(events.filter(({ event }) => event === "file:changed"));
  }
  const changed = (name: string, id: string) => ({ event: "file:changed", path: place.path(name), id });
  assert.deepEqual(reported, [[], [], [changed("seen.txt", "c3")], [changed("seen.txt", "c4")], [
    changed("new.txt", "c5"),
  ]]);
});

test("a waiting write shows that it replaces a file the model has not read, and event listeners get its diff", async (place) => {
  place.settings("tools: { auto_approve: [], auto_approve_sandboxed: false }\n");
  place.write("old.txt", "one\ntwo\n");
  const call = (path: string) =>
    "@You:\nRun it.\n\n@Assistant:\n**Tool Use:** `write` (`c1`)\n\n" +
    `\`\`\`json\n${JSON.stringify({ path, content: "one\n2\n" })}\n\`\`\`\n`;
  const waiting = async (path: string) => {
    place.write("a.chat", call(path));
    const { stdout } = await place.run(["advance", "--json", "a.chat"]);
    const events = stdout.trim().split("\n").map((line) => JSON.parse(line));
    return events.find(({ event }) => event === "approval:pending");
  };
  const over = await waiting("old.txt");
  assert.equal(over.preview, "write: (replaces an unread file) old.txt  (6B)");
  assert.equal(over.diff, "--- old.txt\n+++ old.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
  const fresh = await waiting("new.txt");
  assert.deepEqual([fresh.preview, fresh.diff.split("\n")[0]], ["write: new.txt  (6B)", "--- /dev/null"]);
  // Asked again, a call that waits already tells it again.
  const { stdout } = await place.run(["advance", "--json", "a.chat"]);
  assert.match(stdout, /"event":"approval:pending".*"diff":"--- \/dev\/null/);
});
