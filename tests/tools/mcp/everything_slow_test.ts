// Every tool that the independent `server-everything` offers a client like ours, called once.

import assert from "node:assert/strict";
import { attachmentsFolder } from "../../../base/folders.ts";
import { denoServer, EVERYTHING, faultsIn, withPlace } from "./scene.ts";

const server = { ...denoServer(EVERYTHING), sandbox: false };

/** Each offered tool with a call of it and what its result must hold. */
const CALLS: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
  ["echo", { message: "moin" }, /Echo: moin/],
  [
    "get-annotated-message",
    { messageType: "error", includeImage: true },
    /^ \(attachments=[0-9a-f]{64}\)[^]*Error: Operation failed[^]*\[image\/png, [\d.]+KB\]/,
  ],
  ["get-env", {}, /"DENO_DIR"/],
  [
    "get-resource-links",
    { count: 2 },
    /\[[^\n]*: demo:\/\/resource\/dynamic\/blob\/1\][^]*\[[^\n]*: demo:\/\/resource\/dynamic\/text\/2\]/,
  ],
  [
    "get-resource-reference",
    { resourceType: "Text", resourceId: 1 },
    /\[demo:\/\/resource\/dynamic\/text\/1\]\nResource 1/,
  ],
  ["get-structured-content", { location: "New York" }, /"temperature":\s*33/],
  ["get-sum", { a: 2, b: 3 }, /2 and 3 is 5/],
  ["get-tiny-image", {}, /^ \(attachments=[0-9a-f]{64}\)[^]*\[image\/png, [\d.]+KB\]/],
  [
    "gzip-file-as-resource",
    { name: "a.gz", data: "data:text/plain;base64,bW9pbg==", outputType: "resource" },
    /\[demo:\/\/resource\/session\/a\.gz\]\n\[application\/gzip, [^;]+; saved as \//,
  ],
  ["toggle-simulated-logging", {}, /Started simulated/],
  ["toggle-subscriber-updates", {}, /Started simulated resource updat/],
  ["trigger-long-running-operation", { duration: 0.4, steps: 4 }, /Duration: 0.4 seconds, Steps: 4/],
];

/** Each tool that asks the person, with a call of it and what it asks. */
const QUESTIONS: typeof CALLS = [
  ["trigger-elicitation-request", {}, /\nname:\n[^]*\nlegacyTitledEnum: pet-1\n/],
  ["trigger-url-elicitation", { url: "https://example.com/x" }, /a page of the host example\.com:/],
];

Deno.test("every tool of server-everything returns a result", () =>
  withPlace(async (place) => {
    const shown: string[] = [];
    const ran = await place.with({ every: server }, CALLS.map(callOf), async (chat, events) => {
      await chat.advance();
      shown.push(...events.flatMap((event) => event.event === "tool:output" ? [event.text] : []));
    });
    assert.deepEqual(faultsIn(ran), []);
    for (const [at, [name, , expected]] of CALLS.entries()) {
      assert.match(ran.result(at), expected, name);
      assert.doesNotMatch(ran.result(at), /\(error\)/, name);
    }
    const [, image = ""] = /attachments=([0-9a-f]+)/.exec(ran.result(7)) ?? [];
    const bytes = Deno.readFileSync(`${attachmentsFolder(place.environment)}/${image}`);
    assert.deepEqual([...bytes.subarray(1, 4)], [0x50, 0x4e, 0x47]);
    // Progress is shown while it runs.
    assert.match(shown.join(""), /1\/4[^]*2\/4/);
    // It adds this one when it knows that we have roots, which may be after it was asked for its tools.
    const roots = await place.run({ every: server }, [{ name: "every:get-roots-list" }]);
    assert.match(roots.result(0), /file:\/\/[^]*\/work/, roots.text);
    // It asks the person, and cannot wait for the answer.
    const one = { tools: { autopilot: { enabled: false }, max_concurrent: 1 } };
    const asks = await place.with({ every: server }, QUESTIONS.map(callOf), async (chat) => {
      for (const [at, [, , asked]] of QUESTIONS.entries()) {
        while (chat.chat.result(`call_${at}`)?.status === "approved") await chat.advance();
        assert.match(chat.chat.result(`call_${at}`)?.questions ?? "", asked);
      }
      const { place: { from, to } } = chat.chat.result("call_0")!;
      const insert = chat.chat.text(from, to).replace(/^name:$/m, "name: Ada Example");
      await chat.edit([{ from, to, insert }]);
      await chat.approve({ kind: "all" });
      while (chat.chat.results.some(({ status }) => status === "approved")) await chat.advance();
    }, { settings: one });
    assert.match(asks.result(0), /Ada Example/);
    assert.match(asks.result(1), /example\.com/);
    const [kept] = [...Deno.readDirSync(`${place.root}/state/flemma/mcp`)];
    const { tools: offered }: { tools: { name: string; execution?: { taskSupport?: string } }[] } = JSON
      .parse(
        Deno.readTextFileSync(`${place.root}/state/flemma/mcp/${kept!.name}`),
      );
    assert.deepEqual(
      offered.filter(({ execution }) => execution?.taskSupport !== "required").map(({ name }) => name).sort(),
      [...[...CALLS, ...QUESTIONS].map(([name]) => name), "get-roots-list"].sort(),
    );
  }));

function callOf([name, input]: (typeof CALLS)[number]) {
  return { name: `every:${name}`, input };
}
