// Conversations with calls against strict replay servers of every API, over real loopback HTTP. The servers refuse
// what the APIs refuse, so a request that an API would not accept fails here.

import assert from "node:assert/strict";
import type { SendOutcome } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";
import { type Replay, type ScriptedReply, startReplay } from "../../providers/replay/server.ts";
import { sendOnce } from "./send_once.ts";

const TOOLS = [
  { name: "bash", description: "Runs.", input_schema: { type: "object", properties: {} } },
  { name: "slack:list", description: "Lists.", input_schema: { type: "object", properties: {} } },
];

/** A provider and a model of it that thinks. */
const ALL = [
  ["anthropic", "claude-sonnet-5-5"],
  ["openai", "gpt-6.1-sol"],
  ["vertex", "gemini-4-argon"],
  ["gemini", "gemini-3.8-flash"],
  ["moonshot", "kimi-k3.1-pro"],
  ["openai_chat", "qwen3:8b"],
  ["ollama", "qwen3:8b"],
] as const;

async function send(
  document: string,
  provider: string,
  model: string,
  { url }: Replay,
): Promise<{ outcome: SendOutcome; after: string; progress: ReadonlySet<string> }> {
  const progress = new Set<string>();
  const sent = await sendOnce(document, {
    provider,
    model,
    url,
    providers: { ollama: { kind: "openai_chat" }, [provider]: { kind: "openai_chat", base_url: url } },
    tools: () => TOOLS,
    emit: (event) => {
      if (event.event === "reply:progress") progress.add(event.name ?? event.block);
    },
  });
  assert.ok(sent.outcome.kind === "completed", `${provider}: ${JSON.stringify(sent.outcome)}\n${document}`);
  return { ...sent, progress };
}

/** The document with a result for every call that has none; `say` is what the person writes below them. */
function answered(document: string, say = ""): string {
  const chat = parse(new TextEncoder().encode(document));
  const open = chat.turns.flatMap((turn) => turn.calls).filter(({ id }) => chat.result(id) === undefined);
  const results = open.map(({ id }, index) =>
    `**Tool Result:** \`${id}\`${index % 2 === 1 ? " (error)" : ""}\n\n\`\`\`\nout of ${id}\n\`\`\`\n\n`
  );
  return document + results.join("") + say;
}

/** The model's words for a piece of work; ids of its calls begin with `id`. */
const work = (id: string): readonly ScriptedReply[] => [
  {
    reply: [
      { thinking: "Look first." },
      { text: "I will look." },
      { tool_use: { id: `${id}1`, name: "bash", input_text: '{"z": 1, "a": 2}' } },
      { tool_use: { id: `${id}2`, name: "slack__list", input: {} } },
    ],
    usage: { input_tokens: 20, output_tokens: 9, cache_read_input_tokens: 4 },
  },
  { reply: [{ thinking: "Once more." }, { tool_use: { id: `${id}3`, name: "bash", input: { deep: [1] } } }] },
  { expect: { system: { contains: "brief" } }, reply: [{ thinking: "Good." }, { text: "Done: 😀." }] },
];

const BEGIN = "@System:\nBe brief.\n\n@You:\ngo\n";

for (const [provider, model] of ALL) {
  for (const chunk of [undefined, 5]) {
    Deno.test(`${provider} completes two steps with calls, in chunks of ${chunk ?? "any size"}, and continues after an edit`, async () => {
      const replies = [...work("c"), ...work("d")].map((reply) => ({ ...reply, chunk }));
      await using replay = await startReplay({ replies });
      const first = await send(BEGIN, provider, model, replay);
      assert.ok(first.outcome.kind === "completed");
      assert.deepEqual(first.outcome.usage, {
        input: 20,
        output: 9,
        thoughts: 0,
        cache_read: 4,
        cache_write: 0,
      });
      assert.match(
        first.after,
        /I will look\.\n\n(?:<thinking[^]*<\/thinking>\n\n)?\*\*Tool Use:\*\* `bash` \(`c1`\)/,
      );
      assert.match(first.after, /\*\*Tool Use:\*\* `slack:list` \(`c2`\)/);
      // Calls of Gemini come whole; everywhere else the person sees them grow, and thinking always.
      const isGoogle = provider === "vertex" || provider === "gemini";
      assert.deepEqual([...first.progress], ["thinking", ...(isGoogle ? [] : ["bash", "slack:list"])]);
      const second = await send(answered(first.after), provider, model, replay);
      assert.match(second.after, /`bash` \(`c3`\)/);
      const third = await send(answered(second.after), provider, model, replay);
      assert.ok(third.after.endsWith("Done: 😀.\n\n@You:\n\n"));
      // Each request begins with the bytes of the one before, less the brackets that end it: what caches go by.
      // Anthropic hears in front of all that what becomes of thinking, which is no part of what its cache goes by.
      const from = (body: string) => provider === "anthropic" ? body.slice(body.indexOf('"system":')) : body;
      const bodies = replay.requests.map(({ body }) => from(body));
      for (const [index, body] of bodies.slice(1).entries()) {
        assert.ok(
          body.startsWith(bodies[index]!.replace(/[\]}]+$/, "")),
          `${provider}: request ${index + 2}`,
        );
      }
      // An earlier turn is edited, and the work goes on as before.
      let document = `${third.after.replace("@You:\ngo\n", "@You:\ngo on, please\n")}more\n`;
      for (let step = 0; step < 3; step++) {
        document = answered((await send(document, provider, model, replay)).after);
      }
      assert.equal(replay.remaining, 0);
      assert.deepEqual(replay.problems, []);
    });
  }
}

Deno.test("all providers continue one document in turn, even between calls and results, and refuse no request", async () => {
  const rounds = [...ALL, ...ALL.toReversed()];
  await using replay = await startReplay({ replies: rounds.flatMap((_, round) => work(`r${round}_`)) });
  let document = BEGIN;
  let at = 0;
  for (let round = 0; round < rounds.length; round++) {
    for (let step = 0; step < 3; step++) {
      // Another provider every second request, so that steps of one piece of work are of different ones.
      const [provider, model] = rounds[Math.floor(at++ / 2) % rounds.length]!;
      document = answered((await send(document, provider, model, replay)).after);
    }
    document += `again ${round}\n`;
    // Results of the first round are cut down, which changes text before all later thinking.
    document = document.replace("out of r0_1\n", "out\n");
  }
  assert.deepEqual(replay.problems, []);
});
