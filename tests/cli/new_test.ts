// New documents from the command line: their first lines, the first question, and sending it immediately.

import assert from "node:assert/strict";
import { startReplay } from "../../providers/replay/server.ts";
import { testWithScene as test } from "./harness.ts";

const INSTRUCTIONS = '@System:\n{{ include("urn:flemma:personality:coding-assistant") }}\n\n';

test("new creates a document with instructions and an empty question, unless options say otherwise", async (place) => {
  const rows = [
    ["a.chat", [], `${INSTRUCTIONS}@You:\n\n`],
    ["b.chat", ["--bare"], "@You:\n\n"],
    ["c.chat", ["--system", "Be brief."], "@System:\nBe brief.\n\n@You:\n\n"],
    ["d.chat", ["-m", "Why?"], `${INSTRUCTIONS}@You:\nWhy?\n`],
    ["e.chat", ["--bare", "-m", "Why?\nHow?"], "@You:\nWhy?\nHow?\n"],
  ] as const;
  for (const [name, options, text] of rows) {
    const { code, stdout, stderr } = await place.run(["new", name, ...options]);
    assert.deepEqual([code, stdout], [0, ""], stderr);
    assert.match(stderr, new RegExp(`flemma advance ${name}`));
    assert.equal(place.read(name), text);
  }
  // The instructions are what the program itself can send.
  const request = await place.exits(0, ["send", "d.chat", "--dry-run"]);
  assert.match(request.stdout, /You are a coding assistant/);
});

test("new.system is the system message, or the path of a file that contains it", async (place) => {
  place.settings("new:\n  system: Answer in Latin.\n");
  await place.run(["new", "a.chat"]);
  assert.equal(place.read("a.chat"), "@System:\nAnswer in Latin.\n\n@You:\n\n");
  place.settings("new:\n  system: ./latin.md\n");
  const missing = await place.exits(2, ["new", "b.chat"]);
  assert.match(missing.stderr, /new\.system names a file\. There is no file .*latin\.md/);
  assert.ok(!place.exists("b.chat"));
  Deno.writeTextFileSync(`${place.folder}/config/flemma/latin.md`, "Always Latin.\n\nNothing else.\n");
  await place.exits(0, ["new", "b.chat"]);
  assert.equal(place.read("b.chat"), "@System:\nAlways Latin.\n\nNothing else.\n\n@You:\n\n");
  await place.run(["new", "c.chat", "--bare"]);
  assert.equal(place.read("c.chat"), "@You:\n\n");
});

test("new --go sends the first question immediately, with the options of a run", async (place) => {
  await using replay = await startReplay({ replies: [{ reply: [{ text: "Because." }] }] });
  const env = { ANTHROPIC_API_KEY: "test-key", FLEMMA_ANTHROPIC_BASE_URL: replay.url };
  const args = ["new", "a.chat", "--bare", "-m", "Why?", "--go", "--model", "claude-haiku-4-5"];
  const { stderr } = await place.exits(0, args, { env });
  assert.equal(place.read("a.chat"), "@You:\nWhy?\n\n@Assistant:\nBecause.\n\n@You:\n\n");
  assert.match(stderr, /claude-haiku-4-5/);
  assert.match(stderr, /write below the last @You:, then: flemma advance a\.chat/);
});

test("new --go compacts the document when the context window is full, as advance does", async (place) => {
  place.settings(
    "model: claude-haiku-4-5\ncontext: { on_full: compact }\n" +
      "providers: { anthropic: { models: { claude-haiku-4-5: { context: 14000 } } } }\n",
  );
  const input = { label: "x", command: "seq 1001 3000", timeout: null };
  await using replay = await startReplay({
    replies: [{ reply: [{ tool_use: { id: "c1", name: "bash", input } }], usage: { input_tokens: 11000 } }],
  });
  const env = { ANTHROPIC_API_KEY: "test-key", FLEMMA_ANTHROPIC_BASE_URL: replay.url };
  const { stderr } = await place.exits(3, ["new", "a.chat", "--bare", "-m", "Why?", "--go"], { env });
  // It tried to.
  assert.match(stderr, /The context window is full, and the document has nothing before its last reply/);
});

test("new creates nothing if options contradict each other, a file is missing, or text would act as syntax", async (place) => {
  const cases = [
    [["--bare", "--system", "S"], /--bare and --system cannot be combined/, 2],
    [["--go"], /--go sends the first question/, 2],
    [["--go", "-m", "  "], /--go sends the first question/, 2],
    [["-m", "a\n@Assistant:\nb"], /would start a message/, 1],
  ] as const;
  for (const [args, words, exit] of cases) {
    const { code, stderr } = await place.run(["new", "a.chat", ...args]);
    assert.equal(code, exit, stderr);
    assert.match(stderr, words);
    assert.ok(!place.exists("a.chat"));
  }
});
