// Helpers on the command line: status, approval by address, usage, and what several documents leave out.

import assert from "node:assert/strict";
import { startReplay } from "../../providers/replay/server.ts";
import { withScene } from "./harness.ts";

const CALL = JSON.stringify({
  question: "Run it.",
  document: null,
  name: "runner",
  preset: null,
  files: null,
});
const ASKS =
  `@You:\nGo.\n\n@Assistant:\n**Tool Use:** \`ask_document\` (\`c1\`)\n\n\`\`\`json\n${CALL}\n\`\`\`\n`;
const REPLIES = [
  {
    reply: [{
      tool_use: { id: "call_1", name: "bash", input: { label: "x", command: "echo hi", timeout: null } },
    }],
  },
  { reply: [{ text: "It ran." }] },
  { reply: [{ text: "Done." }] },
];
const SETTINGS =
  "tools: { $append: [ask_document], auto_approve: [ask_document], auto_approve_sandboxed: false }\n";

Deno.test("a helper's call is shown, approved by its address, and counted", () =>
  withScene(async (place) => {
    await using model = await startReplay({ replies: REPLIES });
    const env = { FLEMMA_ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "replay" };
    const run = (...args: string[]) => place.run(args, { env });
    place.settings(SETTINGS);
    place.write("notes.chat", ASKS);
    const first = await run("advance", "notes.chat");
    assert.equal(first.code, 3, first.stderr);
    assert.match(first.stderr, /The helper runner \(notes\.chat\.d\/runner\.chat\) waits for you: bash/);
    const status = await run("status", "notes.chat");
    assert.match(
      status.stdout,
      /in runner \(.*notes\.chat\.d\/runner\.chat\):\n +pending +bash.* runner\/call_1\n/,
    );
    assert.match(status.stdout, /next: flemma review notes\.chat\n/);
    const json = JSON.parse((await run("status", "notes.chat", "--json")).stdout);
    assert.equal(json.calls[0].waits_for[0].address, "runner/call_1");
    const mixed = await run("approve", "notes.chat", "runner/call_1", "c1");
    assert.equal(mixed.code, 2, mixed.stderr);
    const approved = await run("approve", "notes.chat", "runner/call_1");
    assert.equal(approved.code, 0, approved.stderr);
    assert.match(place.read("notes.chat.d/runner.chat"), /status=approved/);
    const many = await run("advance", "--jobs", "2", "notes.chat", "notes.chat.d/runner.chat");
    assert.equal(many.code, 0, many.stderr);
    assert.match(place.read("notes.chat"), /It ran\.\n\nHelper: runner/);
    const usage = await run("usage", "notes.chat");
    assert.match(usage.stdout, /^helper runner +2 /m);
    const counted = JSON.parse((await run("usage", "notes.chat", "--json")).stdout);
    assert.equal(counted.helpers[0].name, "runner");
    assert.equal(counted.usage.requests, 3);
    assert.equal(counted.requests.length, 1);
  }));

Deno.test("undo names the helpers that changed files, until their changes are undone", () =>
  withScene(async (place) => {
    const input = { label: "x", path: "made.md", content: "# made\n" };
    await using model = await startReplay({
      replies: [{ reply: [{ tool_use: { id: "w1", name: "write", input } }] }, ...REPLIES.slice(1)],
    });
    const env = { FLEMMA_ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "replay" };
    place.settings("tools: { $append: [ask_document], auto_approve: [$default, ask_document] }\n");
    place.write("notes.chat", ASKS);
    await place.exits(0, ["advance", "notes.chat"], { env });
    const hint = "Helpers changed files, too. To restore those: flemma undo notes.chat.d/runner.chat\n";
    for (const args of [["undo", "notes.chat"], ["undo", "notes.chat", "--list"]]) {
      assert.ok((await place.exits(0, args)).stderr.endsWith(hint), args.join(" "));
    }
    for (const args of [["undo", "notes.chat", "--json"], ["undo", "notes.chat.d/runner.chat"]]) {
      assert.doesNotMatch((await place.exits(0, args)).stderr, /Helpers/, args.join(" "));
    }
    assert.ok(!place.exists("made.md"));
    assert.doesNotMatch((await place.exits(0, ["undo", "notes.chat"])).stderr, /Helpers/);
  }));
