// `flemma FILE` in a pseudo-terminal asks about calls in place and goes on.

import assert from "node:assert/strict";
import { type ScriptedReply, startReplay } from "../../providers/replay/server.ts";
import { type Scene, testWithScene as test } from "./harness.ts";
import { AtTerminal } from "./terminal.ts";

const usage = { input_tokens: 10, output_tokens: 5 };
const call = (id: string, command: string): ScriptedReply => ({
  reply: [{ tool_use: { id, name: "bash", input: { label: "look", command, timeout: null } } }],
  usage,
});
const SETTINGS = "tools:\n  auto_approve: []\n  auto_approve_sandboxed: false\nsandbox: { enabled: false }\n";
const ASKED = /Approve #\d\? /;

/** Runs `flemma FILE` at a terminal, whose model makes one call and then answers. */
async function withTerminal(
  place: Scene,
  body: (terminal: AtTerminal) => Promise<void>,
  {
    env = {},
    words = ["a.chat"],
    replies = [call("c1", "echo made > out.txt"), { reply: [{ text: "Done." }], usage }],
  }: {
    readonly env?: Readonly<Record<string, string>>;
    readonly words?: readonly string[];
    readonly replies?: readonly ScriptedReply[];
  } = {},
): Promise<void> {
  place.settings(SETTINGS);
  place.arrive("a.chat", "@You:\nMake it.\n");
  await using replay = await startReplay({ replies });
  const key = { ANTHROPIC_API_KEY: "test-key", FLEMMA_ANTHROPIC_BASE_URL: replay.url };
  await body(new AtTerminal(place, words, { env: { ...key, ...env }, size: [100, 40] }));
}

test("one key approves a call, runs it and continues to the reply", (place) =>
  withTerminal(place, async (terminal) => {
    const shown = await terminal.press(ASKED, "y");
    assert.match(shown, /echo made > out\.txt/);
    assert.doesNotMatch(shown, /flemma approve/);
    assert.equal((await terminal.ended()).code, 0, terminal.all);
    assert.equal(place.read("out.txt"), "made\n");
    assert.match(place.read("a.chat"), /Done\./);
  }));

test("each further call is asked about in turn, and a rejection goes to the model", (place) =>
  withTerminal(place, async (terminal) => {
    await terminal.press(ASKED, "n");
    await terminal.press(/[Rr]eason|[Mm]essage|[Ww]hy/, "\r");
    await terminal.press(ASKED, "y");
    assert.equal((await terminal.ended()).code, 0, terminal.all);
    assert.ok(!place.exists("out.txt"));
    assert.ok(place.exists("second.txt"));
  }, {
    replies: [call("c1", "echo made > out.txt"), call("c2", "touch second.txt"), {
      reply: [{ text: "Done." }],
      usage,
    }],
  }));

test("end of input, q and k leave the call pending, and Ctrl-C ends with 130", async (place) => {
  for (const [keys, code] of [["\x04", 3], ["q", 3], ["k", 3], ["\x03", 130]] as const) {
    await withTerminal(place, async (terminal) => {
      await terminal.press(ASKED, keys);
      assert.equal((await terminal.ended()).code, code, terminal.all);
      assert.match(place.read("a.chat"), /status=pending/);
      assert.ok(!place.exists("out.txt"));
    });
  }
});

test("keys typed before the question decide nothing, and a dumb terminal gets plain lines", (place) =>
  withTerminal(place, async (terminal) => {
    await terminal.press(/./, "yyy");
    const shown = await terminal.press(ASKED, "y");
    // deno-lint-ignore no-control-regex -- escape sequences are what must not be there
    assert.doesNotMatch(shown, /\x1b\[/);
    assert.equal((await terminal.ended()).code, 0, terminal.all);
  }, { env: { TERM: "dumb" } }));

test("advance, --quiet and a CI job ask nothing at a terminal", async (place) => {
  const rows: readonly { words: string[]; env: Record<string, string> }[] = [
    { words: ["advance", "a.chat"], env: {} },
    { words: ["a.chat", "--quiet"], env: {} },
    { words: ["a.chat"], env: { CI: "true" } },
  ];
  for (const row of rows) {
    await withTerminal(place, async (terminal) => {
      const { code, shown } = await terminal.ended();
      assert.equal(code, 3, shown);
      assert.doesNotMatch(shown, ASKED);
    }, row);
  }
});
