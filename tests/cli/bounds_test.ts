// Limits of a run as a person sees them: repetition, cost, tokens and context window; and hooks that report the end
// of a run.

import assert from "node:assert/strict";
import { type ScriptedReply, startReplay } from "../../providers/replay/server.ts";
import { callsDocument, type Finished, type Scene, testWithScene as test } from "./harness.ts";

const RUN = ["advance", "a.chat", "--approve", "bash", "--no-sandbox", "--model", "claude-sonnet-5-5"];

function call(at: number, command: string, input = 100, output = 20): ScriptedReply {
  const tool_use = { id: `call_${at}`, name: "bash", input: { label: `try ${at}`, command, timeout: null } };
  return { reply: [{ text: "I try." }, { tool_use }], usage: { input_tokens: input, output_tokens: output } };
}

/** Advances a document with a model that would go on for a hundred replies; answers with how many there were. */
async function advance(
  place: Scene,
  reply: (at: number) => ScriptedReply,
  args: readonly string[] = RUN,
): Promise<Finished & { readonly requests: number }> {
  await using replay = await startReplay({ replies: Array.from({ length: 100 }, (_, at) => reply(at)) });
  const env = { ANTHROPIC_API_KEY: "test-key", FLEMMA_ANTHROPIC_BASE_URL: replay.url };
  const finished = await place.run(args, { env });
  assert.deepEqual(replay.problems, []);
  return { ...finished, requests: replay.requests.length };
}

test("a model that keeps repeating one call is stopped after the third equal result", async (place) => {
  place.write("a.chat", "@You:\nGo.\n");
  const { code, stderr, requests } = await advance(place, (at) => call(at, "echo same"));
  assert.deepEqual([code, requests], [3, 3], stderr);
  assert.match(stderr, /The same call of bash gave the same result 3 times in a row/);
  // The advice, followed: advance sends it all the same, and the guard looks again.
  const more = await advance(place, (at) => call(at + 50, "echo same"));
  assert.deepEqual([more.code, more.requests], [3, 1], more.stderr);
  const words = place.read("a.chat").trimEnd();
  place.write("a.chat", `${words}\n\nTry something else.\n`);
  const other = await advance(
    place,
    (at) => at === 0 ? { reply: [{ text: "Done." }] } : call(at + 70, "true"),
  );
  assert.equal(other.code, 0, other.stderr);
});

test("--max-cost stops before the request that would exceed it, and the printed advice works", async (place) => {
  place.write("a.chat", "@You:\nGo.\n");
  place.settings(
    "providers:\n  anthropic:\n    models:\n      claude-sonnet-5-5: { prices: { input: 3, output: 15 } }\n",
  );
  // 1,000 tokens in and 100 out are $0.0045.
  const reply = (at: number) => call(at, `echo ${at}`, 1000, 100);
  const { code, stderr, requests } = await advance(place, reply, [...RUN, "--max-cost", "0.01"]);
  assert.deepEqual([code, requests], [3, 2], stderr);
  assert.match(
    stderr,
    /Not sent: the next request would cost about \$0\.00\d+, and \$0\.\d+ of \$0\.01 is spent/,
  );
  const first = await advance(place, (at) => reply(at + 20), [...RUN, "--max-cost", "0.0001"]);
  assert.deepEqual([first.code, first.requests], [3, 0], first.stderr);
  const tokens = await advance(place, (at) => reply(at + 40), [...RUN, "--max-tokens", "6000"]);
  assert.equal(tokens.code, 3, tokens.stderr);
  assert.ok(tokens.requests > 0 && tokens.requests < 6, String(tokens.requests));
  const more = await advance(
    place,
    (at) => at < 4 ? reply(at + 60) : { reply: [{ text: "Done." }] },
    [...RUN, "--max-cost", "1"],
  );
  assert.equal(more.code, 0, more.stderr);
});

test("if the model's price is unknown, --max-cost is an error before the first request", async (place) => {
  place.write("a.chat", "@You:\nGo.\n");
  const args = ["advance", "a.chat", "--model", "claude-of-tomorrow", "--max-cost", "1"];
  const { code, stderr, requests } = await advance(place, (at) => call(at, "true"), args);
  assert.deepEqual([code, requests], [2, 0], stderr);
  assert.match(stderr, /no price is known for claude-of-tomorrow of anthropic/);
  place.settings(
    "providers:\n  anthropic:\n    models:\n      claude-of-tomorrow: { thinking: none, prices: { input: 1, output: 2 } }\n",
  );
  const priced = await advance(place, () => ({ reply: [{ text: "Done." }] }), args);
  assert.equal(priced.code, 0, priced.stderr);
});

test("a full context window pauses autopilot but not the person, and status reports it", async (place) => {
  place.settings("providers:\n  anthropic:\n    models:\n      claude-sonnet-5-5: { context: 20000 }\n");
  place.write("a.chat", "@You:\nGo.\n");
  const fresh = await place.run(["status", "a.chat"]);
  assert.match(
    fresh.stdout,
    /^context: about \d+ tokens, less than 1 % of the window \(nothing has been sent yet\)$/m,
  );
  const { code, stderr, requests } = await advance(place, (at) => call(at, `echo ${at}`, 16_500 + at * 1000));
  assert.deepEqual([code, requests], [3, 3], stderr);
  assert.match(
    stderr,
    /The conversation fills 82 % of the context window of claude-sonnet-5-5; flemma compact continues it/,
  );
  assert.equal(stderr.split("flemma compact continues it").length, 2, "told once a run");
  assert.match(
    stderr,
    /would fill about \d+ % of the context window .*\n +Continue in a smaller document: flemma compact a\.chat$/m,
  );
  const status = await place.run(["status", "a.chat"]);
  assert.match(
    status.stdout,
    /^context: 18,520 tokens, 92 % of the window; to continue in a smaller document: flemma compact a\.chat$/m,
  );
  const { context } = JSON.parse((await place.run(["status", "a.chat", "--json"])).stdout);
  assert.deepEqual(context, { tokens: 18520, window: 20000, share: 0.926, estimated: false });
  const more = await advance(place, (at) => call(at + 20, `echo ${at}`, 19_000));
  assert.deepEqual([more.code, more.requests], [3, 1], more.stderr);
});

test("a document can lower limits but not raise them", async (place) => {
  place.settings("run:\n  max_tokens: 300\n");
  const block = (run: string) => `\`\`\`yaml\nflemma:\n  ${run}\n\`\`\`\n\n@You:\nGo.\n`;
  place.write("a.chat", block("run: { max_tokens: 10 }"));
  assert.equal((await advance(place, (at) => call(at, `echo ${at}`))).requests, 0);
  place.write("a.chat", block("run: { max_tokens: 100000 }"));
  const raised = await advance(place, (at) => call(at, `echo ${at}`));
  assert.equal(raised.requests, 0, raised.stderr);
  assert.match(raised.stderr, /max_tokens/);
  place.settings("{}\n");
  place.write("a.chat", block("tools: { autopilot: { max_repeats: 2 } }"));
  assert.equal((await advance(place, (at) => call(at, "echo same"))).requests, 2);
});

/** A hook that writes what it is told into a file named by the kind. */
function hook(place: Scene, name: string): string {
  return `  ${name}: "cat > '${place.folder}/told-${name}'; echo \\"$1\\" > '${place.folder}/path-${name}'"\n`;
}
const reported = (place: Scene, name: string) => {
  try {
    return JSON.parse(Deno.readTextFileSync(`${place.folder}/told-${name}`));
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
};

test("for each way in which a run can end, flemma runs a different hook", async (place) => {
  const all = ["on_pending", "on_done", "on_error"];
  place.settings(`hooks:\n${all.map((name) => hook(place, name)).join("")}`);
  place.write("a.chat", "@You:\nGo.\n");
  await advance(place, () => ({ reply: [{ text: "Done." }] }), ["advance", "a.chat"]);
  assert.deepEqual(all.map((name) => reported(place, name)?.reason ?? null), [null, "done", null]);
  assert.equal(reported(place, "on_done").document, place.path("a.chat"));
  assert.equal(Deno.readTextFileSync(`${place.folder}/path-on_done`), `${place.path("a.chat")}\n`);
  place.write("a.chat", "@You:\nGo.\n");
  await advance(place, (at) => call(at, "true"), [
    "advance",
    "a.chat",
    "--config",
    `${place.folder}/asks.yaml`,
  ]);
  Deno.writeTextFileSync(
    `${place.folder}/asks.yaml`,
    `${
      Deno.readTextFileSync(`${place.folder}/config/flemma/config.yaml`)
    }tools:\n  auto_approve: []\n  auto_approve_sandboxed: false\n`,
  );
  const waits = await advance(place, (at) => call(at, "true"), [
    "advance",
    "a.chat",
    "--config",
    `${place.folder}/asks.yaml`,
  ]);
  assert.equal(waits.code, 3, waits.stderr);
  assert.deepEqual([reported(place, "on_pending").reason, reported(place, "on_pending").ids], ["pending", [
    "call_0",
  ]]);
  place.write("a.chat", "@You:\nGo.\n");
  const failed = await advance(place, () => ({ fault: { status: 400, body: "no" } }), [
    "advance",
    "a.chat",
  ]);
  assert.equal(failed.code, 1);
  assert.equal(reported(place, "on_error").reason, "failed");
  assert.ok(reported(place, "on_error").problem.message.length > 0);
});

test("a hook that fails, is missing, prints without end or reads no input causes only a notice", async (place) => {
  const rows = [
    ['"exit 3"', /hooks\.on_done failed: exit code 3/],
    ['"echo no such screen >&2; exit 1"', /no such screen \(exit code 1\)/],
    ["[/no/such/program]", /hooks\.on_done failed: The program \/no\/such\/program does not exist/],
    [`"head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2"`, /^(?!.*hooks\.on_done failed)/s],
    ['["true"]', /^(?!.*hooks\.on_done failed)/s],
    ['"sleep 300 & exit 1"', /exit code 1/],
  ] as const;
  for (const [command, words] of rows) {
    place.settings(`hooks:\n  on_done: ${command}\n`);
    place.write("a.chat", "@You:\nGo.\n");
    const { code, stdout, stderr } = await advance(place, () => ({ reply: [{ text: "Done." }] }), [
      "advance",
      "a.chat",
    ]);
    assert.deepEqual([code, stdout], [0, ""], `${command}: ${stderr}`);
    assert.match(stderr, words, command);
    assert.match(place.read("a.chat"), /Done\./);
  }
});

test("hooks in the settings of a project, document or session are not run", async (place) => {
  const evil = `touch ${place.folder}/evil`;
  Deno.mkdirSync(place.path(".git"));
  Deno.mkdirSync(place.path(".flemma"));
  place.write(
    ".flemma/config.yaml",
    `hooks:\n  on_done: ${evil}\n  on_error: ${evil}\n  on_pending: ${evil}\n`,
  );
  place.write(
    "a.chat",
    `\`\`\`yaml\nflemma:\n  hooks: { on_done: "${evil}", on_error: "${evil}" }\n\`\`\`\n\n@You:\nGo.\n`,
  );
  await place.run(["trust", ".flemma/config.yaml"]);
  await place.run(["trust", "a.chat"]);
  const session = await place.run(["session", "set", `hooks.on_done=${evil}`]);
  assert.notEqual(session.code, 0);
  const { stderr } = await advance(place, () => ({ reply: [{ text: "Done." }] }), ["advance", "a.chat"]);
  assert.match(stderr, /hooks\.on_done/);
  place.write("a.chat", "@You:\nGo.\n");
  await advance(place, () => ({ reply: [{ text: "Done." }] }), ["advance", "a.chat"]);
  assert.throws(() => Deno.statSync(`${place.folder}/evil`));
});

test("nothing of hooks.on_… runs if the person stops the run", async (place) => {
  const names = ["on_pending", "on_done", "on_error"];
  place.settings(
    `tools: { auto_approve: [bash] }\nhooks:\n${names.map((name) => hook(place, name)).join("")}`,
  );
  place.write("a.chat", callsDocument([{ id: "c1", command: "touch begun; sleep 300", status: "approved" }]));
  const started = place.start(["advance", "a.chat"], { env: { ANTHROPIC_API_KEY: "test-key" } });
  await place.appears("begun", started);
  started.kill("SIGINT");
  assert.equal((await started.finished).code, 130);
  assert.deepEqual(names.map((name) => reported(place, name)), [null, null, null]);
});
