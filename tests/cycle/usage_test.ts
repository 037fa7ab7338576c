import assert from "node:assert/strict";
import { dearModel } from "../../agent/views/settings_findings.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { allRecords, openUsageLog, recordsOf, type UsageLog } from "../../cycle/usage/log.ts";
import { cacheShare, readRecord, recordOf, totalOf } from "../../cycle/usage/record.ts";
import type { UsageRecord } from "../../cycle/types.ts";
import { costWords, formatCount, money, percent, runWords, usageWords } from "../../commands/io/amounts.ts";
import { inFolder } from "../folder.ts";
import type { Answer } from "../providers/loopback.ts";
import { StoppedClock } from "../providers/stopped_clock.ts";
import { sent, streamed } from "./sending.ts";

const USAGE = { input: 1000, output: 2000, thoughts: 0, cache_read: 8000, cache_write: 1000 };

function record(more: Partial<UsageRecord> = {}): UsageRecord {
  return {
    time: "2026-11-28T12:00:00.000Z",
    seconds: 1.5,
    document: "/a.chat",
    provider: "anthropic",
    model: "claude-sonnet-5-5",
    ended: "completed",
    usage: USAGE,
    context: 1_000_000,
    prices: { input: 3, output: 15 },
    cost: 0.06,
    ...more,
  };
}

function used(day: string, model: string, input: number, provider = "anthropic"): UsageRecord {
  const usage = { ...USAGE, input, cache_read: 0, cache_write: 0 };
  return recordOf({
    begun: new Date(`${day}T00:00:00Z`),
    seconds: 1,
    document: null,
    provider,
    model,
    ended: "completed",
    usage,
  }, { settings: DEFAULT_SETTINGS, outputIncludesThoughts: true, retention: "short" });
}

Deno.test("the price of a request depends on its date and the length of its prompt", () => {
  // Google doubles the price in December, OpenAI above 272,000 tokens.
  const november = used("2026-11-30", "gemini-4-argon", 1_000_000, "gemini");
  const december = used("2026-12-01", "gemini-4-argon", 1_000_000, "gemini");
  assert.deepEqual([november.cost, december.cost], [2 + 0.02, 4 + 0.04]);
  const short = used("2026-11-28", "gpt-6.1-sol", 272_000, "openai");
  const long = used("2026-11-28", "gpt-6.1-sol", 272_001, "openai");
  assert.equal(short.prices?.input, 2);
  assert.equal(long.prices?.input, 4);
  assert.equal(used("2026-11-28", "my-model", 5, "openai_chat").cost, null);
});

Deno.test("sums count requests without a price separately and show the share of tokens read from the cache", () => {
  const total = totalOf([record(), record({ cost: null, prices: null })]);
  assert.deepEqual([total.requests, total.cost, total.unpriced, total.cache_read], [2, 0.06, 1, 16000]);
  assert.equal(cacheShare(total), 0.8);
  assert.equal(cacheShare(totalOf([])), null);
  assert.equal(costWords(total), "$0.06 and 1 request of unknown price");
  assert.equal(costWords(totalOf([record({ cost: null })])), "price unknown");
});

Deno.test("money, counts and shares are formatted as people write them", () => {
  const rows = [
    [0, "$0"],
    [0.00001, "less than $0.0001"],
    [0.0012, "$0.0012"],
    [0.001, "$0.001"],
    [0.0312, "$0.031"],
    [0.05, "$0.05"],
    [0.5, "$0.50"],
    [1, "$1"],
    [1.5, "$1.50"],
    [1234.567, "$1,234.57"],
  ] as const;
  for (const [dollars, words] of rows) assert.equal(money(dollars), words);
  assert.equal(formatCount(1234567), "1,234,567");
  assert.equal(percent(0.999), "99 %");
  assert.equal(percent(0.001), "less than 1 %");
  assert.equal(percent(0), "0 %");
  assert.equal(usageWords(totalOf([record()])), "10,000 tokens in (80 % from the cache), 2,000 out, $0.06");
  assert.equal(
    usageWords(totalOf([record()]), { prices: false }),
    "10,000 tokens in (80 % from the cache), 2,000 out",
  );
});

Deno.test("a run is reported with its model, its cost, the cost of the document and the fill level of the context window", () => {
  const before = totalOf([record({ cost: 0.25 })]);
  const prices = { prices: true };
  assert.equal(
    runWords([record()], before, prices),
    "claude-sonnet-5-5: 10,000 tokens in (80 % from the cache), 2,000 out, $0.06; this document so far $0.31; " +
      "1 % of the window",
  );
  assert.doesNotMatch(runWords([record()], null, prices) ?? "", /so far/);
  assert.doesNotMatch(runWords([record()], before, { prices: false }) ?? "", /\$/);
  const unpriced = runWords([record({ model: "mine", cost: null, context: null })], before, prices) ?? "";
  assert.match(unpriced, /, price unknown; this document so far \$0\.25 and 1 request of unknown price$/);
  assert.doesNotMatch(unpriced, /window/);
  const never = totalOf([record({ cost: null })]);
  assert.equal(never.cost, null);
  assert.match(runWords([record({ cost: null })], never, prices) ?? "", /, price unknown; 1 %/);
  assert.equal(runWords([], before, prices), null);
});

async function withState(
  body: (environment: { cwd: string; home: string; variables: Record<string, string> }) => Promise<void>,
) {
  await inFolder(async (folder) => {
    await body({ cwd: folder, home: folder, variables: { XDG_STATE_HOME: folder } });
  });
}

Deno.test("all usage records that are written in parallel for one document are kept; an incomplete line is skipped, and all others are read", () =>
  withState(async (environment) => {
    const logs = [openUsageLog(environment), openUsageLog(environment)];
    await Promise.all(Array.from({ length: 50 }, (_, at) => logs[at % 2]!.record(record({ seconds: at }))));
    await logs[0]!.record(record({ document: null }));
    const file = [...Deno.readDirSync(`${environment.home}/flemma/usage`)].find(({ name }) =>
      name !== "unsaved.jsonl"
    )!;
    const path = `${environment.home}/flemma/usage/${file.name}`;
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    await Deno.writeTextFile(path, '{"time": "2026', { append: true });
    const kept = await recordsOf(environment, "/a.chat");
    assert.deepEqual(kept.map(({ seconds }) => seconds).sort((a, b) => a - b), [...Array(50).keys()]);
    assert.equal((await recordsOf(environment, null)).length, 1);
    assert.deepEqual([...(await allRecords(environment)).keys()].sort(), ["/a.chat", null]);
    assert.deepEqual(await recordsOf(environment, "/b.chat"), []);
  }));

Deno.test("lines that are not usage records are skipped", () => {
  assert.deepEqual(readRecord(JSON.stringify(record())), record());
  const wrong = [
    "",
    "null",
    "[]",
    "x",
    { ...record(), time: 1 },
    { ...record(), provider: null },
    { ...record(), model: undefined },
    { ...record(), cost: "1" },
    { ...record(), usage: null },
    { ...record(), usage: { ...USAGE, thoughts: "1" } },
  ];
  for (const each of wrong) {
    assert.equal(
      readRecord(typeof each === "string" ? each : JSON.stringify(each)),
      null,
      JSON.stringify(each),
    );
  }
});

const START = {
  type: "message_start",
  message: { usage: { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 900 } },
};
const TEXT = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } };
const END = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 50 } },
  { type: "message_stop" },
];

async function send(answer: Answer, usage: UsageLog): Promise<readonly CycleEvent[]> {
  const settings = { ...DEFAULT_SETTINGS, model: "claude-sonnet-5-5" };
  return (await sent(answer, { settings, clock: new StoppedClock(), usage })).events;
}

Deno.test("every request that used tokens is recorded, including a broken reply; a request without usage is not recorded", async () => {
  const kept: UsageRecord[] = [];
  const log: UsageLog = { record: (each) => Promise.resolve(void kept.push(each)) };
  const finished = (await send(streamed(START, TEXT, ...END), log)).find(({ event }) =>
    event === "request:finished"
  );
  await send({ ...streamed(START, TEXT), reset: true }, log);
  await send({ status: 529, body: "{}" }, log);
  assert.deepEqual(kept.map(({ ended, usage }) => [ended, usage.input, usage.cache_read, usage.output]), [
    ["completed", 100, 900, 50],
    ["errored", 100, 900, 0],
  ]);
  assert.equal(kept[0]!.time, "2026-11-28T12:00:00.000Z");
  assert.ok(kept[0]!.cost! > 0);
  assert.ok(finished?.event === "request:finished");
  assert.deepEqual(finished.record, kept[0]);
});

Deno.test("if a usage record cannot be written, flemma reports it and still writes the reply", async () => {
  const full: UsageLog = { record: () => Promise.reject(new Error("No space left on device")) };
  const events = await send(streamed(START, TEXT, ...END), full);
  const notice = events.find(({ event }) => event === "notice");
  assert.ok(notice?.event === "notice" && notice.code === "state-unwritable");
  const finished = events.at(-1);
  assert.ok(finished?.event === "request:finished" && finished.status === "completed");
});

Deno.test("flemma reports the price of the chosen model only if the price is above the person's limit", () => {
  const chosen = (model: string | null, high_cost_threshold: number) =>
    dearModel({
      ...DEFAULT_SETTINGS,
      provider: "openai",
      model,
      ui: { pricing: { enabled: true, high_cost_threshold } },
    }, "2026-11-28");
  assert.equal(
    chosen("gpt-6-astra", 30),
    "the model gpt-6-astra costs $10 (input) and $50 (output) per million tokens",
  );
  assert.equal(chosen("gpt-6-astra", 60), null);
  assert.equal(chosen("gpt-6.1-sol", 30), null);
  assert.equal(chosen("nobody-knows", 0), null);
  assert.equal(chosen(null, 0), null);
});
