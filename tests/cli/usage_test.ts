// Token use and cost of requests, at the end of a run, in status and in reports.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";
import { type Reply, textReply, withServer } from "./replies.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };

/** A reply to a prompt of 100,000 tokens, 90,000 of which were at hand. */
function used(text: string): Reply {
  const { events = [] } = textReply(text);
  return {
    events: events.map((event) =>
      event.type === "message_start"
        ? { ...event, message: { usage: { input_tokens: 10_000, cache_read_input_tokens: 90_000 } } }
        : event.type === "message_delta"
        ? { ...event, usage: { output_tokens: 2000 } }
        : event
    ),
  };
}

test("a run reports its tokens and cost, status and usage add them up, and a setting hides the cost", (place) =>
  withServer([used("One."), used("Two."), used("Three.")], async ({ env }) => {
    place.write("a.chat", "@You:\nHi\n");
    const options = { env: { ...KEY, ...env } };
    const first = await place.run(["advance", "a.chat", "--model", "claude-sonnet-5-5"], options);
    const line =
      /^flemma: claude-sonnet-5-5: 100,000 tokens in \(90 % from the cache\), 2,000 out, (\$[\d.]+); 10 % of the window$/m;
    assert.match(first.stderr, line);
    assert.match(first.stderr, /\nThe reply is complete[^\n]*\n$/, "the last line says what to do");
    place.write("a.chat", `${place.read("a.chat").trimEnd()}\nMore\n`);
    const second = await place.run(["advance", "a.chat", "--model", "claude-sonnet-5-5"], options);
    assert.match(second.stderr, /; this document so far \$[\d.]+; /);
    const status = await place.run(["status", "a.chat"], options);
    assert.match(
      status.stdout,
      /^used: 2 requests, 200,000 tokens in \(90 % from the cache\), 4,000 out, \$[\d.]+; last 10 % of the window$/m,
    );
    const report = await place.run(["usage", "a.chat", "--json"], options);
    const { usage, models, requests } = JSON.parse(report.stdout);
    assert.deepEqual([usage.requests, usage.cache_share, requests.length], [2, 0.9, 2]);
    assert.deepEqual([models[0].provider, models[0].model, models[0].requests], [
      "anthropic",
      "claude-sonnet-5-5",
      2,
    ]);
    const all = await place.run(["usage"], options);
    assert.match(
      all.stdout,
      /^document +requests +in +cached +out +cost\n\S+a\.chat +2 +200,000 +90 % +4,000 +\$[\d.]+\n$/,
    );
    const later = await place.run(["usage", "--since", "2999-01-01"], options);
    assert.deepEqual([later.code, later.stdout, later.stderr], [
      0,
      "",
      "flemma: No usage has been recorded yet.\n",
    ]);
    place.settings("ui:\n  pricing:\n    enabled: false\n");
    place.write("a.chat", `${place.read("a.chat").trimEnd()}\nMore\n`);
    const hidden = await place.run(["advance", "a.chat", "--model", "claude-sonnet-5-5"], options);
    assert.match(hidden.stderr, /^flemma: claude-sonnet-5-5: 100,000 tokens in/m);
    assert.doesNotMatch(hidden.stderr, /\$/);
  }));

test("usage refuses an invalid day and a missing file", async (place) => {
  const day = await place.run(["usage", "--since", "yesterday"]);
  assert.deepEqual([day.code, /2026-11-28/.test(day.stderr)], [2, true]);
  const file = await place.exits(1, ["usage", "none.chat"]);
  assert.equal(
    file.stderr,
    "flemma: There is no file none.chat.\n  To see the documents here: flemma list\n",
  );
});
