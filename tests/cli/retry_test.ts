// A provider that is busy for a moment, seen at a terminal, in a log and in an editor's filter.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";
import { type Reply, textReply, withServer } from "./replies.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };
const QUESTION = "@You:\nHi\n";

/** A refusal that asks to come back after so many milliseconds. */
function busy(milliseconds: number): Reply {
  return {
    status: 529,
    headers: { "retry-after-ms": String(milliseconds) },
    body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  };
}

test("flemma repeats a request to a busy provider and reports each wait in one line", (place) =>
  withServer([busy(1), busy(1), textReply("Hello!")], async ({ env, requests }) => {
    place.write("a.chat", QUESTION);
    const { stderr } = await place.exits(0, ["advance", "a.chat"], { env: { ...KEY, ...env } });
    assert.match(place.read("a.chat"), /Hello!/);
    assert.equal(requests.length, 3);
    assert.match(
      stderr,
      /^flemma: overloaded_error — Overloaded\. Retrying in 0 s \(attempt 2 of 6\)\.\nrequest .*\nflemma: .* \(attempt 3 of 6\)\.$/m,
    );
  }));

test("events report each wait before a retry, and a filter prints the reply as if there had been no delay", (place) =>
  withServer([busy(1), textReply("Hello!"), busy(1), textReply("Hello!")], async ({ env }) => {
    place.write("a.chat", QUESTION);
    const json = await place.run(["send", "a.chat", "--json"], { env: { ...KEY, ...env } });
    const events = json.stdout.trim().split("\n").map((line) => JSON.parse(line));
    const retrying = events.find(({ event }) => event === "request:retrying");
    assert.deepEqual([retrying.attempt, retrying.of, retrying.wait], [2, 6, 0.001]);
    assert.equal(retrying.error.code, "provider-rate-limit");
    const filter = await place.run(["advance"], { stdin: QUESTION, env: { ...KEY, ...env } });
    assert.deepEqual([filter.code, filter.stderr], [0, ""]);
    assert.match(filter.stdout, /Hello!/);
  }));

test("Ctrl-C during a wait ends the run immediately and leaves the document unchanged", (place) =>
  withServer([busy(590_000)], async ({ env, received }) => {
    place.write("a.chat", QUESTION);
    const started = place.start(["advance", "a.chat", "--events", "events"], { env: { ...KEY, ...env } });
    await received(1);
    while (!place.exists("events") || !place.read("events").includes("request:retrying")) {
      await new Promise((done) => setTimeout(done, 5));
    }
    started.kill("SIGINT");
    const { code } = await started.finished;
    assert.equal(code, 130);
    assert.equal(place.read("a.chat"), QUESTION);
  }));
