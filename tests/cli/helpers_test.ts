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
    const shown = await run("approval", "show", "notes.chat", "c1");
    assert.match(
      shown.stdout,
      /A call waits in notes\.chat\.d\/runner\.chat\. Decide there; approving this call does not approve it\./,
    );
    const mixed = await run("approve", "notes.chat", "runner/call_1", "c1");
    assert.equal(mixed.code, 2, mixed.stderr);
    const approved = await run("approve", "notes.chat", "runner/call_1");
    assert.equal(approved.code, 0, approved.stderr);
    assert.match(place.read("notes.chat.d/runner.chat"), /status=approved/);
    const caller = await run("approve", "notes.chat", "c1");
    assert.match(
      caller.stderr,
      /c1 goes on once the calls of its helper runner are decided: flemma review notes\.chat\n/,
    );
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

Deno.test("show folds the helpers of a document into it, as far as this machine asked them", () =>
  withScene(async (place) => {
    await using model = await startReplay({ replies: REPLIES });
    const env = { FLEMMA_ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "replay" };
    const show = async (...args: string[]) => await place.exits(0, ["show", ...args]);
    const lineIn = (text: string) => text.split("\n").filter((line) => line.includes("▸ helper "));
    place.settings(SETTINGS);
    place.write("notes.chat", ASKS);
    await place.exits(3, ["advance", "notes.chat"], { env });
    assert.match((await show("notes.chat", "--plain")).stdout, /\nResult: waits for the helper runner\n/);
    const path = "notes\\.chat\\.d/runner\\.chat";
    const waits = (await show("notes.chat")).stdout;
    assert.match(waits, new RegExp(`\\n  ▸ helper runner: waits for you, \\$[\\d.]+, ${path}\\n`));

    await place.exits(0, ["approve", "notes.chat", "runner/call_1"]);
    await place.exits(0, ["advance", "notes.chat"], { env });
    const folded = (await show("notes.chat")).stdout;
    assert.match(folded, new RegExp(`\\n  ▸ helper runner: idle, \\$[\\d.]+, ${path}\\n`));
    assert.doesNotMatch(folded, /echo hi/);
    const full = (await show("notes.chat", "--full")).stdout;
    assert.match(
      full,
      /▸ helper runner: .*\n {2}│ ── frontmatter[^]*\n {2}│ {3}▸ bash call_1[^]*\n {2}│ {3}It ran\.\n/,
    );

    // A later call to the same helper has only the line. A copy, a forged call and a forged result name no helper.
    const text = place.read("notes.chat");
    place.write("forged.chat", text);
    Deno.mkdirSync(place.path("forged.chat.d"));
    place.write("forged.chat.d/runner.chat", "@You:\nSecret.\n");
    for (const options of [[], ["--html"], ["--full"]]) {
      const { stdout } = await show("forged.chat", ...options);
      assert.ok(stdout.includes("Helper: runner") && !/helper runner:|Secret\./.test(stdout), stdout);
    }
    place.write("notes.chat", text.replaceAll("Run it.", "Run that."));
    assert.deepEqual(lineIn((await show("notes.chat")).stdout), []);
    place.write("notes.chat", text);

    // Git compares plain texts, which are the same wherever the document is.
    const plain = (await show("notes.chat", "--plain")).stdout;
    assert.equal(plain, (await show("forged.chat", "--plain")).stdout);
    assert.match(plain, /\nHelper: runner \(notes\.chat\.d\/runner\.chat\)\n/);

    const key = "ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8";
    const helper = place.read("notes.chat.d/runner.chat");
    place.write("notes.chat.d/runner.chat", `${helper}@You:\n<b>${key}</b>\n`);
    const html = await show("notes.chat", "--html");
    const inside =
      /<details class="helper good"><summary>helper runner: idle, [^<]*<\/summary>\n([^]*?)\[masked\]/
        .exec(html.stdout);
    assert.ok(inside?.[1]?.includes("echo hi") && inside[1].endsWith("&lt;b&gt;"), html.stdout);
    assert.ok(!html.stdout.includes(key));
    assert.match(html.stderr, new RegExp(`  ${path} line \\d+: GitHub token\\n`));

    place.write("other.chat", helper);
    Deno.removeSync(place.path("notes.chat.d/runner.chat"));
    const words = async (state: string) => {
      assert.match((await show("notes.chat", "--full")).stdout, new RegExp(`▸ helper runner: ${state}, `));
      assert.doesNotMatch((await show("notes.chat", "--html")).stdout, /<details class="helper/);
    };
    await words("no document");
    Deno.symlinkSync(place.path("other.chat"), place.path("notes.chat.d/runner.chat"));
    await words("a symbolic link");
    Deno.removeSync(place.path("notes.chat.d/runner.chat"));
    Deno.mkdirSync(place.path("notes.chat.d/runner.chat"));
    await words("cannot be read");
    Deno.renameSync(place.path("notes.chat.d"), place.path("old"));
    Deno.mkdirSync(place.path("notes.chat.d"));
    place.write("notes.chat.d/runner.chat", "@You:\nSecret.\n");
    assert.deepEqual(lineIn((await show("notes.chat")).stdout), []);
  }));

Deno.test("show has the conversation of a helper once, and finds helpers of a renamed document and of helpers", () =>
  withScene(async (place) => {
    const question = (input: object) => JSON.stringify({ ...JSON.parse(CALL), ...input });
    const use = (id: string, input: object) =>
      `**Tool Use:** \`ask_document\` (\`${id}\`)\n\n\`\`\`json\n${question(input)}\n\`\`\`\n`;
    const call = (id: string, input: object) => ({
      reply: [{ tool_use: { id, name: "ask_document", input: JSON.parse(question(input)) } }],
    });
    await using model = await startReplay({
      replies: [
        call("below", { question: "Deeper.", name: "deep" }),
        { reply: [{ text: "Deep answer." }] },
        { reply: [{ text: "Runner answer." }] },
        call("again", { question: "And now?", document: "runner", name: null }),
        { reply: [{ text: "Second answer." }] },
        { reply: [{ text: "Done." }] },
      ],
    });
    const env = { FLEMMA_ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "replay" };
    place.settings(`${SETTINGS}subagents: { depth: 2 }\n`);
    place.write("notes.chat", `@You:\nGo.\n\n@Assistant:\n${use("c1", {})}`);
    await place.exits(0, ["advance", "notes.chat"], { env });
    const heads = (text: string) => text.match(/▸ helper \w+|(?:Deep|Second) answer\./g);
    const once = ["▸ helper runner", "Deep answer.", "▸ helper deep", "Deep answer.", "Second answer."];
    const all = heads((await place.exits(0, ["show", "notes.chat", "--full"])).stdout);
    assert.deepEqual(all, [...once, "Second answer.", "▸ helper runner"]);
    Deno.renameSync(place.path("notes.chat"), place.path("renamed.chat"));
    const { stdout } = await place.exits(0, ["show", "renamed.chat"]);
    assert.deepEqual(heads(stdout), ["▸ helper runner", "Second answer.", "▸ helper runner"]);
    assert.match(stdout, /▸ helper runner: .*notes\.chat\.d\/runner\.chat\n/);
    Deno.renameSync(place.path("notes.chat.d"), place.path("old"));
    Deno.mkdirSync(place.path("notes.chat.d"));
    place.write("notes.chat.d/runner.chat", "@You:\nSecret.\n");
    const replaced = await place.exits(0, ["show", "renamed.chat", "--full"]);
    assert.deepEqual(heads(replaced.stdout), ["Second answer."]);
  }));
