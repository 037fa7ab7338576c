// A watched file that a command changed, on the command line: a line, an event, and the status afterwards.

import assert from "node:assert/strict";
import { withScene } from "./harness.ts";

const CALL = (command: string) =>
  "@You:\nRun it.\n\n@Assistant:\n**Tool Use:** `bash` (`call_1`)\n\n" +
  `\`\`\`json\n${JSON.stringify({ command, timeout: null })}\n\`\`\`\n` +
  "\n@You:\n\n**Tool Result:** `call_1`\n\n```flemma:tool status=approved\n```\n";

Deno.test("a change of a watched file is told in a line, as an event, and by the status until the next one", async () => {
  await withScene(async (place) => {
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
      `A command made ${path}, which npm and pnpm would obey. Look at it before you start that.`;
    assert.ok(ran.stderr.includes(sentence), ran.stderr);
    assert.ok((await place.run(["status", "a.chat"])).stdout.includes(sentence));
    const status = JSON.parse((await place.run(["status", "--json", "a.chat"])).stdout);
    assert.deepEqual(status.files_changed, [{ path, change: "made", obeyed_by: "npm and pnpm" }]);
  });
});

Deno.test("write on a watched file waits for the person although the tool is approved by list", async () => {
  await withScene(async (place) => {
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
});
