// A full context window, and a reply of which part may be missing: one verdict and one next step, the same everywhere.

import assert from "node:assert/strict";
import { compactedSentence } from "../../commands/io/amounts.ts";
import { lastWords } from "../../commands/run/summary.ts";
import { RunLimits } from "../../cycle/send/limits.ts";
import { createStopAfterReply, createStopBy } from "../../cycle/run/stop.ts";
import type { CompletedReply, Stop } from "../../cycle/types.ts";
import { stopWords } from "../../editors/stop_words.ts";
import { parse } from "../../parser/mod.ts";
import { providerError } from "../../providers/http/errors.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";

const CHAT = parse(new TextEncoder().encode("@You:\nHi\n\n@Assistant:\nHalf a\n\n@You:\n\n"));

function reported(stop: Stop): string {
  const words = lastWords({
    stop,
    chat: CHAT,
    onDisk: () => CHAT,
    file: "my chat.chat",
    label: "my chat.chat",
    command: "advance",
  });
  return words.map((each) =>
    "problem" in each
      ? `${each.problem.message} ${each.problem.next ?? ""}`
      : "say" in each
      ? each.say
      : each.note
  ).join("\n");
}

const full = new RunLimits(DEFAULT_SETTINGS).refusal({
  provider: "p",
  model: "m",
  rough: 999,
  window: 1000,
  prices: null,
  serverToolCost: 0,
  byPerson: false,
});

const STOPS: Readonly<Record<string, Stop>> = {
  "the next request would not fit": createStopBy(full!),
  "the provider refused a request that is too long": createStopBy(
    providerError("context_overflow", "prompt is too long: 1200 tokens > 1000 maximum"),
  ),
  "the reply filled the window": createStopAfterReply("full", false, {}),
};

for (const [what, stop] of Object.entries(STOPS)) {
  Deno.test(`if ${what}, the only advice is to continue in a smaller document`, () => {
    const words = reported(stop);
    assert.match(words, /Continue in a smaller document: flemma compact "?'?my chat\.chat/);
    assert.equal(words.match(/flemma \w+/g)?.length, 1, words);
    assert.doesNotMatch(words, /--continue|Write below|write below|send it anyway|FILE/);
    const inEditor = stopWords(stop)?.text ?? "";
    assert.match(inEditor, /flemma compact/);
    assert.doesNotMatch(inEditor, /continue\.|anyway/);
  });
}

Deno.test("of a reply of which part may be missing, no message says that it is complete", () => {
  const stop = createStopAfterReply("doubtful", false, {});
  assert.match(
    reported(stop),
    /^The reply has ended, but part of it may be missing\. To continue, write below/,
  );
  assert.match(stopWords(stop)?.text ?? "", /may be missing\. Check it\.$/);
  assert.match(reported(createStopAfterReply("whole", false, {})), /^The reply is complete\. To continue/);
  assert.equal(stopWords(createStopAfterReply("whole", false, {})), null);
});

Deno.test("a reply that reached another limit is continued, and one with calls goes on with them", () => {
  const after = (reply: CompletedReply, hasCalls = false) =>
    createStopAfterReply(reply, hasCalls, { ids: [] });
  assert.match(reported(after("cut")), /Continue it with: flemma advance .* --continue/);
  assert.deepEqual(
    (["whole", "doubtful", "cut", "full", "empty"] as const).map((reply) => [
      after(reply).reason,
      after(reply).problem?.code,
      after(reply, true).reason,
      after(reply, true).problem,
    ]),
    [
      ["done", undefined, "stepped", undefined],
      ["done", "reply-doubtful", "stepped", undefined],
      ["cut", undefined, "stepped", undefined],
      ["cut", "context-full", "stepped", undefined],
      ["stepped", undefined, "stepped", undefined],
    ],
  );
});

Deno.test("a compaction is reported with the copy, the sizes and what the summary cost", () => {
  const event = {
    event: "context:compacted",
    archive: "/x/a.chat.before-1",
    before: 170_000,
    after: 9000,
  } as const;
  const sizes =
    "The context window was full, so the document was compacted: about 170,000 tokens became 9,000";
  assert.deepEqual([0, 0.1234, null].map((cost) => compactedSentence({ ...event, cost })), [
    `${sizes}. The complete document is /x/a.chat.before-1.`,
    `${sizes}; the summary cost $0.12. The complete document is /x/a.chat.before-1.`,
    `${sizes}; the price of the summary is unknown. The complete document is /x/a.chat.before-1.`,
  ]);
});
