// Batches from a program.

import assert from "node:assert/strict";
import { fetchBatch, sendBatch } from "../../advanced.ts";
import { fetchDocuments } from "../../batch/mod.ts";
import { processEnvironment } from "../../base/environment.ts";
import { type Scene, testWithScene as test } from "../cli/harness.ts";
import { type BatchServer, withBatchServer } from "./servers.ts";

function environmentOf(place: Scene, { env }: Pick<BatchServer, "env">) {
  return {
    ...processEnvironment(),
    cwd: place.path("").replace(/\/$/, ""),
    home: `${place.folder}/home`,
    variables: { ...place.env, ...env },
  };
}

test("a program sends documents and gets their replies, with what became of each", (place) =>
  withBatchServer("openai", {
    answer: ({ question }) => ({ text: `The answer to ${question}.` }),
  }, async (server) => {
    place.settings(server.settings);
    place.write("q0.chat", "@You:\nQuestion 0?\n");
    place.write("q1.chat", "@You:\n\n");
    const environment = environmentOf(place, server);
    const sent = await sendBatch(["q0.chat", "q1.chat", "gone.chat"], { environment });
    assert.ok(sent.ok);
    const outcomes = sent.value.documents.map(({ name, outcome }) => `${name} ${outcome}`);
    assert.deepEqual(outcomes, ["q1.chat left", "gone.chat left", "q0.chat sent"]);
    assert.deepEqual([sent.value.out, sent.value.problems], [1, []]);
    const events: string[] = [];
    const hear = (name: string) => ({ event }: { event: string }) => events.push(`${name} ${event}`);
    const fetched = await fetchBatch({ environment, hear });
    assert.ok(fetched.ok);
    assert.deepEqual(fetched.value, {
      documents: [{ name: "q0.chat", outcome: "written" }],
      problems: [],
      out: 0,
    });
    assert.ok(events.includes("q0.chat request:finished"), events.join());
    assert.match(place.read("q0.chat"), /The answer to Question 0\./);
  }));

test("a program learns of a reply that is incomplete, and the person still reads where contents are stored", (place) =>
  withBatchServer("anthropic", {
    answer: () => ({ text: "A first part.", isPaused: true }),
  }, async (server) => {
    place.settings(server.settings);
    for (const at of [0, 1]) place.write(`q${at}.chat`, `@You:\nQuestion ${at}?\n`);
    const environment = environmentOf(place, server);
    assert.ok((await sendBatch(["q0.chat"], { environment })).ok);
    const fetched = await fetchBatch({ environment });
    assert.ok(fetched.ok);
    assert.deepEqual(fetched.value.documents, [
      { name: "q0.chat", outcome: "written", detail: "The reply is incomplete." },
    ]);
    const { stderr } = await place.exits(0, ["batch", "send", "q1.chat"], server);
    assert.match(stderr, /stores the contents of batches for up to 30 days/);
  }));

test("a fetch that waits looks again until nothing is out any more, less often each time", (place) =>
  withBatchServer("openai", { answer: () => ({ text: "Yes." }), looks: 3 }, async (server) => {
    place.settings(server.settings);
    place.write("q0.chat", "@You:\nQuestion 0?\n");
    const environment = environmentOf(place, server);
    assert.ok((await sendBatch(["q0.chat"], { environment })).ok);
    const waits: number[] = [];
    const { out } = await fetchDocuments({
      environment,
      files: [],
      jobs: 1,
      rounds: 0,
      waits: true,
      finishesLive: false,
      hear: () => () => {},
      tell: () => {},
      pause: (seconds) => {
        waits.push(seconds);
        return Promise.resolve();
      },
    });
    assert.equal(out, 0);
    assert.match(place.read("q0.chat"), /Yes\./);
    assert.ok(waits.length > 0);
    assert.deepEqual(waits, waits.toSorted((one, other) => one - other));
  }));
