// Batches from a program.

import assert from "node:assert/strict";
import { fetchBatch, sendBatch } from "../../advanced.ts";
import { processEnvironment } from "../../base/environment.ts";
import { testWithScene as test } from "../cli/harness.ts";
import { withBatchServer } from "./servers.ts";

test("a program sends documents and gets their replies, with what became of each", (place) =>
  withBatchServer("openai", {
    answer: ({ question }) => ({ text: `The answer to ${question}.` }),
  }, async (server) => {
    place.settings(server.settings);
    place.write("q0.chat", "@You:\nQuestion 0?\n");
    place.write("q1.chat", "@You:\n\n");
    const environment = {
      ...processEnvironment(),
      cwd: place.path("").replace(/\/$/, ""),
      home: `${place.folder}/home`,
      variables: { ...place.env, ...server.env },
    };
    const sent = await sendBatch(["q0.chat", "q1.chat", "gone.chat"], { environment });
    assert.ok(sent.ok);
    const outcomes = sent.value.documents.map(({ name, outcome }) => `${name} ${outcome}`);
    assert.deepEqual(outcomes, ["q1.chat left", "gone.chat left", "q0.chat sent"]);
    assert.deepEqual([sent.value.out, sent.value.problems], [1, []]);
    const fetched = await fetchBatch({ environment });
    assert.ok(fetched.ok);
    assert.deepEqual(fetched.value, {
      documents: [{ name: "q0.chat", outcome: "written" }],
      problems: [],
      out: 0,
    });
    assert.match(place.read("q0.chat"), /The answer to Question 0\./);
  }));
