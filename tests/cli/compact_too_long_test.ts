// `compact` works on a conversation that is too long for one request, as its advice promises.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };

/** Serves summaries, and refuses requests of more than `most` characters as too long. */
function serveWindow(most: number) {
  const sizes: number[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const text = await request.text();
    sizes.push(text.length);
    if (text.length > most) {
      const error = {
        type: "invalid_request_error",
        message: "prompt is too long: 300000 tokens > 200000 maximum",
      };
      return Response.json({ type: "error", error }, { status: 400 });
    }
    const events = [
      { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "text", text: `Summary ${sizes.length}.` },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ];
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return {
    sizes,
    env: { ...KEY, FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}` },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const turn = (at: number, words: string) => `@You:\nQuestion ${at}.\n\n@Assistant:\n${words}\n\n`;

test("a conversation that is too long is summarized in parts, and the original stays as it is", async (place) => {
  await using server = serveWindow(30_000);
  const text =
    Array.from({ length: 16 }, (_, at) => turn(at, `Answer ${at}: ${"word ".repeat(1000)}`)).join("") +
    "@You:\nAnd now?\n";
  place.write("a.chat", text);
  const sent = await place.run(["advance", "a.chat"], { env: server.env });
  assert.equal(sent.code, 1);
  const advice = /flemma compact (\S+)/.exec(sent.stderr);
  assert.equal(advice?.[1], "a.chat", sent.stderr);
  const compacted = await place.run(["compact", "a.chat"], { env: server.env });
  assert.equal(compacted.code, 0, compacted.stderr);
  assert.equal(place.read("a.chat"), text);
  const made = place.read("a.2.chat");
  assert.match(made, /Summary \d+\./);
  assert.ok(made.includes("And now?") && made.length < 30_000, `${made.length}`);
  assert.ok(server.sizes.filter((size) => size <= 30_000).length >= 2);
});

test("long results are shortened before anything is left to a summary of parts", async (place) => {
  await using server = serveWindow(30_000);
  const call = '**Tool Use:** `bash` (`c1`)\n\n```json\n{"command":"x"}\n```\n';
  const lines = Array.from({ length: 2000 }, (_, at) => `line ${at} of a long result`).join("\n");
  const result = `**Tool Result:** \`c1\`\n\n\`\`\`\n${lines}\n\`\`\`\n`;
  place.write(
    "a.chat",
    `@You:\nGo.\n\n@Assistant:\n${call}\n@You:\n${result}\n@Assistant:\nDone.\n\n${turn(1, "One.")}${
      turn(2, "Two.")
    }@You:\nOn?\n`,
  );
  const compacted = await place.run(["compact", "a.chat"], { env: server.env });
  assert.equal(compacted.code, 0, compacted.stderr);
  assert.equal(server.sizes.length, 2, "one refused request, and one with short results");
});

test("one message that is too long by itself is an error that leaves everything as it is", async (place) => {
  await using server = serveWindow(30_000);
  place.write("a.chat", `${turn(0, "word ".repeat(20_000))}${turn(1, "One.")}${turn(2, "Two.")}@You:\nOn?\n`);
  const compacted = await place.run(["compact", "a.chat"], { env: server.env });
  assert.equal(compacted.code, 1, compacted.stderr);
  assert.match(compacted.stderr, /prompt is too long/);
  assert.ok(!place.exists("a.2.chat"));
});
