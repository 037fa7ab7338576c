// A document with four helpers at once: one answers, one waits for an approval, one fails, and one is killed with -9.

import assert from "node:assert/strict";
import { type Scene, withScene } from "../cli/harness.ts";
import { frames, SSE, stop } from "../cycle/sending.ts";
import { resultIn } from "./helpers.ts";

const SETTINGS =
  "tools: { $append: [ask_document], auto_approve: [ask_document], auto_approve_sandboxed: false }\n";
const NAMES = ["answers", "waits", "fails", "killed"];

type Block = readonly [id: string, name: string, input: object] | string;

function reply(blocks: readonly Block[]): Response {
  const events = blocks.flatMap((block, index): object[] => {
    const isText = typeof block === "string";
    const content_block = isText
      ? { type: "text", text: "" }
      : { type: "tool_use", id: block[0], name: block[1], input: {} };
    const delta = isText
      ? { type: "text_delta", text: block }
      : { type: "input_json_delta", partial_json: JSON.stringify(block[2]) };
    return [
      { type: "content_block_start", index, content_block },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ];
  });
  const begin = { type: "message_start", message: { usage: { input_tokens: 10 } } };
  const reason = blocks.some((block) => typeof block !== "string") ? "tool_use" : "end_turn";
  return new Response(frames(begin, ...events, stop(reason), { type: "message_stop" }), { headers: SSE });
}

/** Runs `body` with a model; `killed` says how often the helper that is killed has asked, and lets it be answered. */
async function withModel(
  body: (model: {
    readonly env: Readonly<Record<string, string>>;
    readonly asked: readonly string[];
    /** Settles when the helper has asked so many times. */
    asks(count: number): Promise<void>;
    answer(): void;
  }) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  let waiting: { readonly count: number; readonly done: () => void }[] = [];
  const gate = Promise.withResolvers<void>();
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { messages } = await request.json();
    const first = JSON.stringify(messages[0].content);
    const last = JSON.stringify(messages.at(-1).content);
    const name = NAMES.find((each) => first.includes(`Question ${each}.`));
    if (name === undefined) {
      return reply(
        last.includes("tool_result") ? ["All done."] : NAMES.map((each) => [
          `ask_${each}`,
          "ask_document",
          { question: `Question ${each}.`, document: null, name: each, preset: null, files: null },
        ]),
      );
    }
    asked.push(name);
    if (name === "fails") {
      const error = { type: "error", error: { type: "invalid_request_error", message: "No such thing." } };
      return Response.json(error, { status: 400 });
    }
    if (name === "waits" && !last.includes("tool_result")) {
      return reply([["run", "bash", { label: "x", command: "echo approved", timeout: null }]]);
    }
    if (name === "killed") {
      const count = asked.filter((each) => each === name).length;
      waiting = waiting.filter((each) => each.count > count || each.done());
      await gate.promise;
    }
    return reply([`Answer ${name}.`]);
  });
  await body({
    env: { FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}`, ANTHROPIC_API_KEY: "replay" },
    asked,
    asks: (count) =>
      new Promise((done) =>
        asked.filter((each) => each === "killed").length >= count ? done() : waiting.push({ count, done })
      ),
    answer: gate.resolve,
  });
}

/** Waits until a condition holds. */
async function until(what: () => boolean, text: () => string): Promise<void> {
  for (let tries = 0; !what(); tries++) {
    assert.ok(tries < 3000, text());
    await new Promise((done) => setTimeout(done, 20));
  }
}

const has = (place: Scene, name: string, text: string) =>
  place.exists(name) && place.read(name).includes(text);

Deno.test("one helper answers, one waits, one fails, one is killed and continued; an approval counts while others run", () =>
  withScene((place) =>
    withModel(async (model) => {
      const { env } = model;
      const helper = (name: string) => `notes.chat.d/${name}.chat`;
      place.settings(SETTINGS);
      place.write("notes.chat", "@You:\nAsk them.\n");
      const first = place.start(["advance", "notes.chat"], { env });
      await model.asks(1);
      await until(
        () =>
          has(place, helper("answers"), "Answer answers.") && has(place, helper("waits"), "status=pending") &&
          model.asked.includes("fails"),
        () => place.read("notes.chat"),
      );
      first.kill("SIGKILL");
      await first.finished;

      const second = place.start(["advance", "notes.chat"], { env });
      await model.asks(2);
      // The other helper is at work now, until the model answers.
      const approved = await place.run(["approve", "notes.chat", "waits/run"], { env });
      assert.equal(approved.code, 0, approved.stderr);
      assert.match(place.read(helper("waits")), /status=approved/);
      model.answer();
      const ended = await second.finished;
      assert.ok([0, 3].includes(ended.code), ended.stderr);
      const third = await place.run(["advance", "notes.chat"], { env });
      assert.equal(third.code, 0, `${third.stderr}\n${place.read("notes.chat")}`);

      const text = place.read("notes.chat");
      for (const name of ["answers", "waits", "killed"]) {
        assert.equal(
          resultIn(text, `ask_${name}`),
          `Answer ${name}.\n\nHelper: ${name} (${helper(name)})`,
        );
      }
      assert.match(resultIn(text, "ask_fails"), /^The helper stopped: .*No such thing/);
      assert.ok(text.includes("All done."));
      for (const name of NAMES) {
        assert.equal(place.read(helper(name)).split(`Question ${name}.`).length, 2, place.read(helper(name)));
      }
      assert.equal(place.read(helper("waits")).split("**Tool Result:** `run`").length, 2);
      assert.match(place.read(helper("waits")), /```\napproved\n```/);
      const status = await place.run(["status", "notes.chat", "--json"], { env });
      assert.deepEqual(JSON.parse(status.stdout).calls, []);
    })
  ));
