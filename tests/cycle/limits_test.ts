// What prevents a request of a run: limits of cost and tokens, and the model's context window.

import assert from "node:assert/strict";
import { replySizeError, RunLimits, type Upcoming } from "../../cycle/send/limits.ts";
import { expectedCost, expectedTokens, fillOf } from "../../cycle/usage/fill.ts";
import type { UsageRecord } from "../../cycle/types.ts";

const CONTEXT = {
  warn_at: 0.8,
  stop_at: 0.95,
  on_full: "stop",
  compact_at: 0.85,
  max_compactions: 2,
  compact_model: null,
  prune_over: 4096,
} as const;
const PRICES = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 };
const NEXT: Upcoming = {
  provider: "p",
  model: "m",
  rough: 1000,
  window: 10_000,
  prices: PRICES,
  serverToolCost: 0,
  byPerson: false,
};

function record(input: number, output: number, more: Partial<UsageRecord> = {}): UsageRecord {
  return {
    time: "2026-11-28T12:00:00.000Z",
    seconds: 1,
    document: null,
    provider: "p",
    model: "m",
    ended: "completed",
    usage: { input, output, thoughts: 0, cache_read: 0, cache_write: 0 },
    context: 10_000,
    prices: PRICES,
    cost: (input * 3 + output * 15) / 1e6,
    ...more,
  };
}
const limits = (run: { max_cost?: number; max_tokens?: number } = {}, context = {}) =>
  new RunLimits({
    context: { ...CONTEXT, ...context },
    run: { max_cost: null, max_tokens: null, wait_for_limit: 0, ...run },
  });
const codeOf = (of: RunLimits, next: Partial<Upcoming> = {}) =>
  of.refusal({ ...NEXT, ...next })?.code ?? null;

Deno.test("without limits, and as long as the context window is not full, every request is sent", () => {
  assert.equal(codeOf(limits()), null);
  assert.equal(codeOf(limits(), { prices: null, window: null, rough: 1e9 }), null);
});

Deno.test("if a request could exceed the run's cost limit, flemma does not send it; earlier requests are sent", () => {
  const of = limits({ max_cost: 0.01 });
  assert.equal(codeOf(of), null);
  of.take({ rough: 1000, record: record(1000, 100) });
  assert.equal(codeOf(of), null, "0.0045 + 0.0045");
  of.take({ rough: 1000, record: record(1000, 100) });
  assert.equal(codeOf(of), "budget-reached", "0.009 + 0.0045");
  of.begin();
  assert.equal(codeOf(of), null, "another run has its own budget");
  assert.equal(
    codeOf(limits({ max_cost: 0.002 })),
    "budget-reached",
    "the first request alone would pass it",
  );
  assert.equal(codeOf(limits({ max_cost: 0 })), "budget-reached");
});

Deno.test("a request whose cost is not exactly known counts at most its highest usual price against the limit", () => {
  const prices = { input: 3, output: 15 };
  const usage = { input: 0, output: 0, thoughts: 0, cache_read: 1000, cache_write: 0 };
  const of = limits({ max_cost: 0.004 });
  assert.equal(codeOf(of, { prices, rough: 1 }), null);
  of.take({ rough: 1000, record: record(0, 0, { cost: null, prices, usage }) });
  assert.equal(codeOf(of, { prices, rough: 1000 }), "budget-reached", "0.003 + 0.003");
});

Deno.test("if a cost limit is set and the price is unknown, flemma reports this before the first request", () => {
  assert.equal(codeOf(limits({ max_cost: 5 }), { prices: null }), "price-unknown");
  assert.equal(codeOf(limits({ max_cost: 5, max_tokens: 1 }), { prices: null }), "price-unknown");
});

Deno.test("if a request could exceed the run's token limit, flemma does not send it", () => {
  const of = limits({ max_tokens: 2500 });
  assert.equal(codeOf(of), null);
  of.take({ rough: 1000, record: record(1000, 100) });
  assert.equal(codeOf(of), null, "1100 + 1100");
  of.take({ rough: 1000, record: record(1000, 100) });
  assert.equal(codeOf(of), "budget-reached", "2200 + 1100");
});

Deno.test("if a request could fill the context window, flemma sends it only if a person started the request", () => {
  assert.equal(codeOf(limits(), { rough: 9499 }), null);
  assert.equal(codeOf(limits(), { rough: 9500 }), "context-full");
  assert.equal(codeOf(limits(), { rough: 9500, byPerson: true }), null);
  assert.equal(codeOf(limits(), { rough: 9500, window: null }), null);
  assert.equal(codeOf(limits({}, { stop_at: 0.5 }), { rough: 5000 }), "context-full");
  // What the length of a request says is corrected by what the last one came to.
  const of = limits();
  of.take({ rough: 4000, record: record(8000, 100) });
  assert.equal(codeOf(of, { rough: 4600 }), null);
  assert.equal(codeOf(of, { rough: 4800 }), "context-full");
});

Deno.test("once the context window is as full as a percentage in the settings, flemma reports this once per run", () => {
  const of = limits();
  assert.equal(of.take({ rough: 1, record: record(7899, 100) }), null);
  assert.match(
    of.take({ rough: 1, record: record(7900, 100) })!,
    /fills 80 % of the context window of m; flemma compact/,
  );
  assert.equal(of.take({ rough: 1, record: record(9000, 100) }), null);
  of.begin();
  assert.match(of.take({ rough: 1, record: record(9000, 100) })!, /91 %/);
  assert.equal(limits().take({ rough: 1, record: record(9000, 100, { context: null }) }), null);
  assert.match(limits({}, { warn_at: 0.1 }).take({ rough: 1, record: record(1000, 0) })!, /10 %/);
});

Deno.test("the size of a request is estimated from the last request of the run", () => {
  assert.equal(expectedTokens(1000, null), 1000);
  assert.equal(expectedTokens(1000, { rough: 500, record: record(600, 1) }), 1200);
  assert.equal(
    expectedTokens(1000, { rough: 500, record: record(0, 1) }),
    1000,
    "a server that counts nothing",
  );
  assert.equal(expectedCost(1e6, PRICES, null), 3);
  assert.equal(expectedCost(1e6, PRICES, { rough: 1, record: record(1, 1e6) }), 18);
  const cached = record(0, 0, {
    usage: { input: 0, output: 0, thoughts: 0, cache_read: 1e6, cache_write: 0 },
  });
  assert.equal(expectedCost(2e6, PRICES, { rough: 1, record: cached }), 0.3 + 3.75);
});

Deno.test("the fill level of the context window comes from the last request or, before the first request, from the text", () => {
  assert.deepEqual(fillOf(undefined, 400, 1000), { tokens: 100, window: 1000, share: 0.1, estimated: true });
  assert.deepEqual(fillOf(undefined, 400, null), { tokens: 100, window: null, share: null, estimated: true });
  assert.deepEqual(fillOf(record(900, 100), 5, 2000), {
    tokens: 1000,
    window: 2000,
    share: 0.5,
    estimated: false,
  });
  assert.deepEqual(fillOf(record(900, 100), 5, null), {
    tokens: 1000,
    window: 10_000,
    share: 0.1,
    estimated: false,
  });
});

Deno.test("a reply is ended before its document, including unwritten text, gets too large to open", () => {
  const most = 2 ** 29 - 24 - (1 << 20);
  const rows: readonly (readonly [number, number, boolean])[] = [
    [100, 1000, false],
    [most, 0, false],
    [most + 1, 0, true],
    [most - 3, 1, false],
    [most - 2, 1, true],
  ];
  for (const [bytes, waiting, ends] of rows) {
    assert.equal(replySizeError(bytes, waiting) !== null, ends, `${bytes} and ${waiting}`);
  }
  assert.match(replySizeError(most, 1)!.message, /reached the maximum of 512 MB/);
  assert.match(replySizeError(most, 1)!.next!, /flemma new/);
});

Deno.test("a run that may compact stops earlier, also before the person's own request, as often as it may compact", () => {
  const compacting = (context = {}, compacts = true) =>
    new RunLimits({
      context: { ...CONTEXT, on_full: "compact", ...context },
      run: { max_cost: 1, max_tokens: null, wait_for_limit: 0 },
    }, { compacts });
  const at = (share: number, byPerson = false) => ({ rough: share * 10_000, byPerson });
  const of = compacting();
  assert.equal(codeOf(of, at(0.84)), null);
  assert.equal(codeOf(of, at(0.85)), "context-full");
  assert.equal(codeOf(of, at(0.85, true)), "context-full");
  assert.match(of.refusal({ ...NEXT, ...at(0.9) })!.message, /context\.compact_at is 85 %/);
  // A request is measured by the last one until the document is another.
  of.take({ rough: 1000, record: record(2000, 0) });
  assert.equal(of.expected(1000), 2000);
  of.compacted([record(1000, 100)]);
  assert.deepEqual([of.expected(1000), of.mayCompact], [1000, true]);
  of.compacted([]);
  assert.deepEqual([of.mayCompact, codeOf(of, at(0.9)), codeOf(of, at(0.9, true))], [false, null, null]);
  assert.equal(codeOf(of, at(0.95)), "context-full");
  of.begin();
  assert.equal(of.mayCompact, true);
  of.compacted([record(400_000, 0)]);
  assert.equal(codeOf(of), "budget-reached", "the summary counts");
  assert.equal(codeOf(compacting({}, false), at(0.9)), null, "the host does not compact");
  assert.equal(codeOf(compacting({ on_full: "stop" }), at(0.9)), null);
  assert.equal(codeOf(compacting({ stop_at: 0.5 }), at(0.6)), "context-full");
  assert.match(compacting({ stop_at: 0.5 }).refusal({ ...NEXT, ...at(0.6) })!.message, /stop_at is 50 %/);
});
