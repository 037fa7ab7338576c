// Replayed conversations that asked helpers: their documents are replayed where they were asked.

import assert from "node:assert/strict";
import { endOfAnswer, namedHelper } from "../../commands/run/replay/helpers.ts";
import { recordingOf } from "../../commands/run/replay/recording.ts";
import { parse } from "../../parser/mod.ts";
import { startReplay } from "../../providers/replay/server.ts";
import { type Scene, withScene } from "./harness.ts";

const ask = (id: string, question: string, document: string | null = null) => ({
  tool_use: {
    id,
    name: "ask_document",
    input: { question, document, name: document === null ? "runner" : null, preset: null, files: null },
  },
});
const bash = (id: string, command: string) => ({
  tool_use: { id, name: "bash", input: { label: "x", command, timeout: null } },
});

/** Records a conversation whose helper changes a file twice; a command of the caller reads it between. */
async function record(place: Scene): Promise<void> {
  place.settings(
    "tools: { $append: [ask_document], auto_approve: [$default, ask_document], auto_approve_sandboxed: true }\n",
  );
  place.write("count", "1\n");
  place.write("notes.chat", "@You:\nGo.\n");
  await using model = await startReplay({
    replies: [
      { reply: [ask("a1", "Write {{ two }}.")] },
      { reply: [bash("h1", "echo 2 > count; cat count")] },
      { reply: [{ text: "Two." }] },
      { reply: [bash("c1", "cat count")] },
      { reply: [ask("a2", "Now three.", "runner")] },
      { reply: [bash("h2", "echo 3 >> count; cat count")] },
      { reply: [{ text: "Three." }] },
      { reply: [bash("c2", "cat count")] },
      { reply: [{ text: "Done." }] },
    ],
  });
  const env = { FLEMMA_ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "replay" };
  await place.exits(0, ["advance", "notes.chat"], { env });
  place.write("count", "1\n");
}

Deno.test("a replay replays the helpers of a document where they were asked", () =>
  withScene(async (place) => {
    await record(place);
    const [notes, runner] = [place.read("notes.chat"), place.read("notes.chat.d/runner.chat")];
    const run = (code: number, ...args: string[]) =>
      place.exits(code, ["replay", "run", "notes.chat", ...args]);
    const { stderr } = await run(0);
    assert.match(
      stderr,
      /^notes\.chat: 2 as recorded, 2 skipped\nnotes\.chat\.d\/runner\.chat: 2 as recorded$/m,
    );
    assert.match(
      (await run(0, "--tap")).stdout,
      /^ok 1 - notes\.chat: ask_document a1, line \d+ # SKIP notes\.chat\.d\/runner\.chat is replayed instead$/m,
    );
    const [caller, helper] = JSON.parse((await run(0, "--json")).stdout);
    assert.deepEqual(
      caller.results.map(({ id, outcome }: { id: string; outcome: string }) => [id, outcome]),
      [
        ["a1", "left out"],
        ["c1", "same"],
        ["a2", "left out"],
        ["c2", "same"],
      ],
    );
    assert.equal(helper.document, "notes.chat.d/runner.chat");

    // What differs in a helper is reported, and updated, in its document.
    place.write("notes.chat.d/runner.chat", runner.replace("\n2\n3\n", "\n2\n4\n"));
    const differs = await run(1);
    assert.match(differs.stderr, /^notes\.chat\.d\/runner\.chat:\d+: bash h2 differs from the recording$/m);
    assert.match(differs.stderr, /^notes\.chat: 2 as recorded, 2 skipped$/m);
    await run(0, "--update");
    assert.equal(place.read("notes.chat.d/runner.chat"), runner);
    assert.equal(place.read("notes.chat"), notes);
    assert.equal(place.read("count"), "1\n");
  }));

Deno.test("without its document, the result of a helper is as recorded, and a sentence says so", () =>
  withScene(async (place) => {
    await record(place);
    const line = async (code: number, words: string) => {
      const { stderr } = await place.exits(code, ["replay", "run", "notes.chat"]);
      const found = stderr.split("\n").filter((each) => each.includes(": ask_document a"));
      assert.ok(found.length > 0 && found.every((each) => each.endsWith(words)), stderr);
    };
    const path = "notes.chat.d/runner.chat";
    const runner = place.read(path);
    place.write("other.chat", runner);
    Deno.removeSync(place.path(path));
    await line(1, `: ${path} is missing, so its result is as recorded`);
    Deno.symlinkSync(place.path("other.chat"), place.path(path));
    await line(1, `: ${path} is missing, so its result is as recorded`);
    Deno.removeSync(place.path(path));
    place.write(path, runner.replaceAll("Write ", "Read ").replaceAll("Now ", "Later "));
    await line(1, `: its question is not in ${path}, so its result is as recorded`);
    place.write(path, runner);
    place.write("notes.chat", place.read("notes.chat").replaceAll(/^Helper: .*$/gm, "That was it."));
    await line(1, ": no helper is named in its result, so its result is as recorded");
  }));

Deno.test("a helper that may do more than the person trusts is not replayed", () =>
  withScene(async (place) => {
    await record(place);
    const path = "notes.chat.d/runner.chat";
    const own = place.read(path);
    place.write(
      path,
      own.replace('"cwd": "..",', '"cwd": "..", "sandbox": { "policy": { "rw_paths": ["/var"] } },'),
    );
    assert.notEqual(place.read(path), own);
    const { stderr } = await place.exits(1, ["replay", "run", "notes.chat"]);
    assert.match(stderr, /Nothing was replayed\. [^]*flemma trust \S*notes\.chat\.d\/runner\.chat/);
  }));

Deno.test("the last line of a result names the helper, and its answer ends before the next message", () => {
  for (
    const [content, name] of [
      ["Two.\n\nHelper: runner (a.chat.d/runner.chat)\n", "runner"],
      ["Helper: runner (a.chat.d/runner.chat)\n\nMore.", null],
      ["Helper: ../x (a.chat.d/x.chat)", null],
      ["Helper: runner", null],
      ["", null],
    ] as const
  ) assert.equal(namedHelper(content), name, content);
  const text =
    "@You:\nOne.\n\n@Assistant:\n1\n\n@You:\nMine.\n\n@Assistant:\n2\n\n@You:\nTwo.\n\n@Assistant:\n3\n";
  const recording = recordingOf(parse(new TextEncoder().encode(text)));
  for (
    const [from, question, end] of [
      [0, "One.", 1],
      [0, "Two.", 5],
      [1, "Two.", 5],
      [1, "One.", null],
      [5, "Two.", null],
      [0, "", null],
      [0, "No.", null],
    ] as const
  ) assert.equal(endOfAnswer(recording, from, question), end, `${from} ${question}`);
});

Deno.test("a call that waits is not replayed", () => {
  const call = "@You:\nGo.\n\n@Assistant:\n**Tool Use:** `bash` (`c1`)\n\n```json\n{}\n```\n\n@You:\n\n";
  for (const status of ["pending", "approved", "error"]) {
    const text = `${call}**Tool Result:** \`c1\` (${
      status === "error" ? status : `status=${status}`
    })\n\n\`\`\`\n\`\`\`\n`;
    const { steps } = recordingOf(parse(new TextEncoder().encode(text)));
    assert.equal(steps.length, status === "error" ? 2 : 1, status);
  }
});

Deno.test("a script names the helpers that its replies belong to, whichever of them asks first", () =>
  withScene(async (place) => {
    place.settings("tools: { $append: [ask_document], auto_approve: [ask_document] }\n");
    place.write("notes.chat", "@You:\nGo.\n");
    const asks = ["one", "two"].map((name) => ({
      tool_use: {
        id: name,
        name: "ask_document",
        input: { question: `Task {{ ${name} }}.`, document: null, name, preset: null, files: null },
      },
    }));
    await using model = await startReplay({
      replies: [
        { reply: asks },
        { reply: [{ text: "Done." }] },
        { document: "two", reply: [{ text: "Second." }] },
        { document: "one", reply: [{ text: "First." }] },
      ],
    });
    const env = { FLEMMA_ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "replay" };
    await place.exits(0, ["advance", "notes.chat"], { env });
    assert.match(place.read("notes.chat.d/one.chat"), /First\./);
    assert.match(place.read("notes.chat.d/two.chat"), /Second\./);
    assert.match(place.read("notes.chat"), /Done\./);
    assert.equal(model.remaining, 0);
  }));

Deno.test("where nothing was replayed, only the reason is printed, without a count", () =>
  withScene(async (place) => {
    place.write("a.chat", "@You:\nHi.\n");
    const { stderr } = await place.exits(1, ["replay", "run", "a.chat", "none.chat"]);
    assert.equal(
      stderr,
      "a.chat: a.chat has no calls with results, so nothing was replayed.\n  Name a document in which tools ran.\n" +
        "none.chat: There is no file none.chat.\n  Name a document in which tools ran.\n",
    );
  }));
