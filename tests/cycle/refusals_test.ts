// What a server refused is remembered for it and the model for 30 days, and only if it does not depend on the content.

import assert from "node:assert/strict";
import { rememberedRefusals, rememberRefusals } from "../../cycle/memory/refusals.ts";
import type { RequestFallback } from "../../providers/types.ts";
import { serve } from "../providers/loopback.ts";
import { KEYS, sendOnce } from "../providers/send_once.ts";
import { withState } from "../folder.ts";

const SERVER = { baseUrl: "http://a", model: "m" };
const DAY = "2026-11-30";

Deno.test("a refusal counts for its base URL, model and rule, for 30 days", () =>
  withState(async ({ environment }) => {
    const rules = async (server = SERVER, day = DAY) =>
      (await rememberedRefusals(environment, server, day)).map(({ rule }) => rule);
    assert.deepEqual(await rules(), []);
    await rememberRefusals(environment, SERVER, ["sampling", "reasoning-field"], DAY);
    await rememberRefusals(environment, { ...SERVER, model: "n" }, ["thinking"], DAY);
    assert.deepEqual(await rules(), ["sampling", "reasoning-field"]);
    assert.deepEqual(await rules({ ...SERVER, model: "n" }), ["thinking"]);
    assert.deepEqual(await rules({ ...SERVER, baseUrl: "http://b" }), []);
    assert.deepEqual(await rules(SERVER, "2026-12-30"), ["sampling", "reasoning-field"]);
    assert.deepEqual(await rules(SERVER, "2026-12-31"), []);
    assert.deepEqual(await rules(SERVER, "2026-11-29"), [], "a day in the future is a mistake");
    await rememberRefusals(environment, SERVER, ["sampling"], "2026-12-20");
    assert.deepEqual(await rules(SERVER, "2027-01-05"), ["sampling"]);
  }));

Deno.test("a refusal that depends on the content of the request is not remembered", () =>
  withState(async ({ environment }) => {
    const rules: readonly RequestFallback[] = [
      "earlier-thinking",
      "item-ids",
      "binding",
      "result-files",
      "reply-limit",
    ];
    await rememberRefusals(environment, SERVER, rules, DAY);
    assert.deepEqual(await rememberedRefusals(environment, SERVER, DAY), []);
  }));

Deno.test("another version of flemma, and a damaged file, remember nothing", () =>
  withState(async ({ environment, folder }) => {
    const path = `${folder}/state/flemma/refusals.json`;
    await rememberRefusals(environment, SERVER, ["sampling"], DAY);
    const text = await Deno.readTextFile(path);
    for (
      const other of [
        "",
        "[]",
        text.replace(/"version": "[^"]*"/, '"version": "flemma/0.0.1"'),
        text.replace('"sampling"', '"everything"'),
        text.replace(DAY, "soon"),
        text.replace('"model": "m"', '"model": 5'),
      ]
    ) {
      await Deno.writeTextFile(path, other);
      assert.deepEqual(await rememberedRefusals(environment, SERVER, DAY), [], other);
    }
  }));

const GOOD = 'data: {"choices":[{"delta":{"content":"Well."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

Deno.test("in the next run, flemma omits what the server refused from the first request on, and a notice tells the person", () =>
  withState(async ({ folder }) => {
    const server = serve((body) =>
      body.includes("reasoning_content")
        ? {
          status: 400,
          body: JSON.stringify({ error: { message: "property 'reasoning_content' is unsupported" } }),
        }
        : { headers: { "content-type": "text/event-stream" }, body: GOOD }
    );
    const document = "@You:\nq\n\n@Assistant:\n<thinking>\nHm.\n</thinking>\n\nDone.\n\n@You:\nr\n";
    const send = async (model = "m") => {
      const { outcome } = await sendOnce(document, {
        provider: "openai_chat",
        model,
        url: server.url,
        variables: { ...KEYS, XDG_STATE_HOME: `${folder}/state` },
      });
      assert.ok(outcome.kind === "completed");
      return outcome.warnings.join("\n");
    };
    try {
      assert.match(await send(), /repeats it without the reasoning of earlier replies/);
      assert.equal(server.requests.length, 2);
      assert.match(
        await send(),
        /^Requests for m go without the reasoning of earlier replies, which .* refused on/m,
      );
      assert.equal(server.requests.length, 3);
      await send("other");
      assert.equal(server.requests.length, 5);
    } finally {
      await server.close();
    }
  }));
