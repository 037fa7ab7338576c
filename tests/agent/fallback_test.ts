// Other models that are asked if the provider cannot answer: when, with what, and what a person sees of it.

import assert from "node:assert/strict";
import { fallbackSettings } from "../../agent/runtime/fallback/models.ts";
import { createSender } from "../../agent/runtime/sender.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { RunLimits } from "../../cycle/send/limits.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import type { CycleEvent, SendOutcome, UsageRecord } from "../../cycle/types.ts";
import type { EvaluatedFrontmatter } from "../../prompt/evaluate.ts";
import { RequestLimiter } from "../../providers/http/limiter.ts";
import { anthropic } from "../../providers/anthropic/provider.ts";
import type { Provider, ProviderError } from "../../providers/types.ts";
import { startReplay } from "../../providers/replay/server.ts";
import { BEFORE, bytes, delta, END, SSE, stop, streamed } from "../cycle/sending.ts";
import type { Answer } from "../providers/loopback.ts";
import { StoppedClock } from "../providers/stopped_clock.ts";

const [FIRST, SECOND, THIRD] = ["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"] as const;
const START = { type: "message_start", message: { usage: { input_tokens: 1000 } } };
const GOOD = streamed(START, delta("Hello!"), stop("end_turn", 100), END);

function refused(status: number, type: string, message = "No", headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ type: "error", error: { type, message } }),
  };
}

const OVERLOADED = refused(529, "overloaded_error", "Overloaded");

interface Options {
  readonly models?: readonly string[];
  readonly on?: Settings["fallback"]["on"];
  readonly run?: Partial<Settings["run"]>;
  readonly context?: Partial<Settings["context"]>;
  readonly before?: string;
  readonly signal?: AbortSignal;
  readonly provider?: Provider;
  readonly variables?: Readonly<Record<string, string>>;
}

/** A sender of a document, to a provider that answers as each model is told to. */
function scene(answers: Readonly<Record<string, Answer | readonly Answer[]>>, options: Options = {}) {
  const { models = [SECOND], on = DEFAULT_SETTINGS.fallback.on, before = BEFORE, variables = {} } = options;
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    model: FIRST,
    fallback: { models, on },
    run: { ...DEFAULT_SETTINGS.run, ...options.run },
    context: { ...DEFAULT_SETTINGS.context, ...options.context },
  };
  const asked: string[] = [];
  const fetched: typeof fetch = async (_, init) => {
    const { model } = JSON.parse(await new Response(init?.body).text());
    const given = answers[model]!;
    const list = "length" in given ? given : [given];
    const answer = list[Math.min(asked.filter((each) => each === model).length, list.length - 1)]!;
    asked.push(model);
    return new Response(answer.body as string, {
      status: answer.status ?? 200,
      headers: answer.headers ?? SSE,
    });
  };
  const store = new MemoryStore(bytes(before), null);
  const clock = new StoppedClock();
  const events: CycleEvent[] = [];
  const records: UsageRecord[] = [];
  const limits = new RunLimits(settings);
  const limiter = new RequestLimiter();
  const send = createSender({
    store,
    settings,
    environment: { cwd: "/", home: "/", variables: { ANTHROPIC_API_KEY: "k", ...variables } },
    tools: () => [],
    emit: (event) => events.push(event),
    fetch: fetched,
    clock,
    limits,
    limiter,
    provider: options.provider,
    usage: { record: (record) => Promise.resolve(void records.push(record)) },
  }, () => Promise.resolve(undefined as unknown as EvaluatedFrontmatter));
  return {
    asked,
    events,
    records,
    clock,
    limits,
    send: (byPerson = true) => send(options.signal ?? new AbortController().signal, { byPerson }),
    say: (text: string) =>
      store.commit([{ from: store.chat.byteLength, to: store.chat.byteLength, insert: text }]),
    after: () => new TextDecoder().decode(store.chat.bytes),
  };
}

const problemOf = (outcome: SendOutcome) =>
  outcome.kind === "failed" ? outcome.problem as ProviderError : assert.fail(outcome.kind);

Deno.test("an overloaded or unavailable provider is asked three times, then the next model, and never silently", async () => {
  const midway = streamed(START, {
    type: "error",
    error: { type: "overloaded_error", message: "Overloaded" },
  });
  for (
    const answer of [
      OVERLOADED,
      refused(503, "api_error"),
      refused(500, "api_error"),
      refused(504, "x"),
      midway,
    ]
  ) {
    const run = scene({ [FIRST]: answer, [SECOND]: GOOD });
    const outcome = await run.send();
    assert.equal(outcome.kind, "completed");
    assert.deepEqual(run.asked, [FIRST, FIRST, FIRST, SECOND]);
    assert.match(run.after(), /@Assistant:\nHello!\n/);
    const event = run.events.find((event) => event.event === "request:fallback");
    assert.deepEqual([event?.from, event?.to], [`anthropic/${FIRST}`, `anthropic/${SECOND}`]);
    assert.ok(outcome.kind === "completed");
    assert.deepEqual(outcome.warnings, [
      `This reply is by anthropic/${SECOND}, because anthropic/${FIRST} could not answer (fallback.models).`,
    ]);
  }
});

Deno.test("no other model is asked if the person, the account or the content is at fault", async () => {
  const blocked = streamed(START, stop("refusal", 1), END);
  const rows: readonly (readonly [string, Answer])[] = [
    ["wrong key", refused(401, "authentication_error")],
    ["no permission", refused(403, "permission_error")],
    ["unknown model", refused(404, "not_found_error")],
    ["invalid request", refused(400, "invalid_request_error")],
    ["window full", refused(400, "invalid_request_error", "prompt is too long: 2 tokens > 1 maximum")],
    ["too large", refused(413, "request_too_large")],
    ["spent", refused(402, "billing_error")],
    ["spent, as a limit", refused(429, "insufficient_quota", "credit balance is too low")],
    ["refused content", blocked],
  ];
  for (const [name, answer] of rows) {
    const run = scene({ [FIRST]: answer, [SECOND]: GOOD }, { on: ["overloaded", "unavailable", "limited"] });
    assert.equal((await run.send()).kind, "failed", name);
    assert.deepEqual(run.asked, [FIRST], name);
    assert.ok(!run.events.some(({ event }) => event === "request:fallback"), name);
  }
});

Deno.test("a missing key of the first provider is reported and no other model is asked", async () => {
  const run = scene({ [SECOND]: GOOD }, { variables: { ANTHROPIC_API_KEY: "" } });
  assert.equal((await run.send()).kind, "failed");
  assert.deepEqual(run.asked, []);
});

Deno.test("a rate limit leads to another model only if the settings say so", async () => {
  const limited = refused(429, "rate_limit_error", "No", { "retry-after": "5" });
  const usual = scene({ [FIRST]: limited, [SECOND]: GOOD });
  assert.equal((await usual.send()).kind, "failed");
  assert.deepEqual(new Set(usual.asked), new Set([FIRST]));
  const told = scene({ [FIRST]: limited, [SECOND]: GOOD }, { on: ["limited"] });
  assert.equal((await told.send()).kind, "completed");
  assert.deepEqual(told.asked, [FIRST, FIRST, FIRST, SECOND]);
  const other = scene({ [FIRST]: OVERLOADED, [SECOND]: GOOD }, { on: ["limited"] });
  assert.equal((await other.send()).kind, "failed");
});

Deno.test("once the first word of a reply arrived, no other model is asked", async () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const run = scene({ [FIRST]: streamed(START, delta("Half"), error), [SECOND]: GOOD });
  assert.equal((await run.send()).kind, "failed");
  assert.deepEqual(run.asked, [FIRST]);
  assert.match(run.after(), /Half/);
  const second = scene({
    [FIRST]: OVERLOADED,
    [SECOND]: streamed(START, delta("Half"), error),
    [THIRD]: GOOD,
  }, {
    models: [SECOND, THIRD],
  });
  assert.equal((await second.send()).kind, "failed");
  assert.ok(!second.asked.includes(THIRD));
});

Deno.test("the reply is counted and charged for the model that answered, and its record names the other one", async () => {
  const run = scene({ [FIRST]: OVERLOADED, [SECOND]: GOOD });
  await run.send();
  const [record] = run.records;
  assert.equal(run.records.length, 1);
  assert.deepEqual([record?.provider, record?.model, record?.instead_of], [
    "anthropic",
    SECOND,
    `anthropic/${FIRST}`,
  ]);
  // 1,000 tokens at 4 dollars, and 100 at 20 dollars, per million.
  assert.equal(record?.cost, 0.006);
});

Deno.test("the first model is skipped for five minutes, with the notice each time, and then asked again", async () => {
  const run = scene({ [FIRST]: [OVERLOADED, OVERLOADED, OVERLOADED, GOOD], [SECOND]: GOOD });
  const again = async () => {
    const before = run.asked.length;
    const told = run.events.length;
    assert.equal((await run.send()).kind, "completed");
    await run.say("And?\n");
    const notices = run.events.slice(told).filter(({ event }) => event === "request:fallback");
    return [run.asked.slice(before), notices.length] as const;
  };
  assert.deepEqual(await again(), [[FIRST, FIRST, FIRST, SECOND], 1]);
  assert.deepEqual(await again(), [[SECOND], 1]);
  run.clock.seconds += 301;
  assert.deepEqual(await again(), [[FIRST], 0]);
  assert.deepEqual(await again(), [[FIRST], 0]);
});

Deno.test("if every model fails, the first one's error is shown, and all others are listed with their reasons", async () => {
  const run = scene({
    [FIRST]: OVERLOADED,
    [SECOND]: refused(401, "authentication_error", "invalid x-api-key"),
    [THIRD]: refused(503, "api_error", "down"),
  }, { models: [SECOND, "openai/gpt-6.1-sol", THIRD], variables: { OPENAI_API_KEY: "" } });
  const problem = problemOf(await run.send());
  assert.match(problem.message, /Overloaded/);
  const listed = (problem.details ?? []).filter((line) => /^(anthropic|openai)\//.test(line));
  assert.equal(listed.length, 3, JSON.stringify(problem.details));
  assert.match(listed[0]!, new RegExp(`^anthropic/${SECOND}: .*invalid x-api-key`));
  assert.match(listed[1]!, /^openai\/gpt-6\.1-sol: .*key/i);
  assert.match(listed[2]!, new RegExp(`^anthropic/${THIRD}: .*down`));
  assert.equal(run.after(), BEFORE);
});

Deno.test("a model that cannot be asked is listed, also if a later one answers", async () => {
  const unknown = scene({
    [FIRST]: OVERLOADED,
    "nobody/x": refused(404, "not_found_error", "no such model"),
    [THIRD]: GOOD,
  }, {
    models: ["nobody/x", THIRD],
  });
  const outcome = await unknown.send();
  assert.ok(outcome.kind === "completed");
  assert.match(outcome.warnings[0]!, /^Not by anthropic\/nobody\/x: .*no such model/);
  const preset = scene({ [FIRST]: OVERLOADED, [THIRD]: GOOD }, { models: ["$nothing", THIRD] });
  const second = await preset.send();
  assert.ok(second.kind === "completed");
  assert.match(second.warnings[0]!, /^Not by \$nothing: There is no preset "\$nothing"/);
});

Deno.test("the window and the budget of the run hold for the other model too", async () => {
  const small = scene({ [FIRST]: OVERLOADED, "claude-haiku-4-5": GOOD }, {
    models: ["claude-haiku-4-5"],
    before: `@You:\n${"word ".repeat(170_000)}\n`,
  });
  const problem = problemOf(await small.send());
  assert.match(problem.details!.join("\n"), /anthropic\/claude-haiku-4-5: Not sent: .*context window/);
  assert.ok(!small.asked.includes("claude-haiku-4-5"));
  const dear = scene({ [FIRST]: OVERLOADED, [SECOND]: GOOD }, {
    run: { max_cost: 0.5 },
    before: `@You:\n${"word ".repeat(140_000)}\n`,
  });
  assert.match(problemOf(await dear.send()).details!.join("\n"), /opus-5-5: Not sent: .*max_cost/);
});

Deno.test("at most three other models are asked, and never the first one again", async () => {
  const models = [FIRST, SECOND, THIRD, "claude-sonnet-5"];
  const run = scene(Object.fromEntries(models.map((model) => [model, OVERLOADED])), { models });
  await run.send();
  assert.deepEqual([...new Set(run.asked)], [FIRST, SECOND, THIRD]);
  assert.equal(run.asked.length, 9);
});

Deno.test("if every model fails and the person allows a wait, the first model is waited for", async () => {
  const answers = [...Array(9).fill(OVERLOADED), GOOD];
  const run = scene({ [FIRST]: answers, [SECOND]: OVERLOADED }, { run: { wait_for_limit: 3600 } });
  assert.equal((await run.send()).kind, "completed");
  assert.deepEqual(run.asked.filter((model) => model === SECOND).length, 3);
  assert.equal(run.asked.at(-1), FIRST);
});

Deno.test("without other models, and with a provider of the host, nothing else is asked", async () => {
  for (const options of [{ models: [] }, { provider: anthropic }]) {
    const run = scene({ [FIRST]: OVERLOADED, [SECOND]: GOOD }, options);
    assert.equal((await run.send()).kind, "failed");
    assert.deepEqual(run.asked, Array(6).fill(FIRST));
  }
});

Deno.test("an entry is a model of the provider, a model of another provider, or a preset", () => {
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    model: FIRST,
    providers: { openrouter: { kind: "openai_chat" } },
    tools: {
      ...DEFAULT_SETTINGS.tools,
      presets: {
        $fast: {
          provider: "openai",
          model: "gpt-6-luna",
          parameters: { temperature: 0.5 },
          approve: ["bash"],
        },
        $only: { approve: ["read"] },
      },
    },
  };
  const rows = [
    [SECOND, "anthropic", SECOND],
    ["openai/gpt-6.1-sol", "openai", "gpt-6.1-sol"],
    ["openrouter/z-ai/glm-5", "openrouter", "z-ai/glm-5"],
    ["z-ai/glm-5", "anthropic", "z-ai/glm-5"],
    ["$fast", "openai", "gpt-6-luna"],
    ["$cheap", "anthropic", "claude-haiku-5-5"],
  ] as const;
  for (const [entry, provider, model] of rows) {
    const read = fallbackSettings(settings, entry);
    assert.ok(read.ok, entry);
    assert.deepEqual([read.value.provider, read.value.model], [provider, model], entry);
    // A preset's approvals do not come along.
    assert.equal(read.value.tools, settings.tools);
  }
  const fast = fallbackSettings(settings, "$fast");
  assert.ok(fast.ok && fast.value.parameters.temperature === 0.5);
  assert.equal(settings.parameters.temperature, DEFAULT_SETTINGS.parameters.temperature);
  for (const entry of ["$only", "$none"]) assert.equal(fallbackSettings(settings, entry).ok, false, entry);
});

Deno.test("signed thinking of one vendor does not go to another, and both accept what they get", async () => {
  const thinks = { reply: [{ thinking: "Hm." }, { text: "One." }] };
  await using first = await startReplay({
    replies: [thinks as never, ...Array(3).fill({ fault: { status: 529, body: "busy" } }), {
      reply: [{ text: "Three." }],
    }],
  });
  await using second = await startReplay({
    replies: [{ reply: [{ thinking: "So." }, { text: "Two." }] } as never],
  });
  let text = BEFORE;
  const kinds: string[] = [];
  for (let at = 0; at < 3; at++) {
    const store = new MemoryStore(bytes(text), null);
    const settings = {
      ...DEFAULT_SETTINGS,
      fallback: { models: ["openai/gpt-6.1-sol"], on: DEFAULT_SETTINGS.fallback.on },
    };
    const send = createSender({
      store,
      settings,
      environment: {
        cwd: "/",
        home: "/",
        variables: {
          ANTHROPIC_API_KEY: "k",
          OPENAI_API_KEY: "k",
          FLEMMA_ANTHROPIC_BASE_URL: first.url,
          FLEMMA_OPENAI_BASE_URL: second.url,
        },
      },
      tools: () => [],
      emit: () => {},
      clock: new StoppedClock(),
    }, () => Promise.resolve(undefined as unknown as EvaluatedFrontmatter));
    const outcome = await send(new AbortController().signal);
    kinds.push(outcome.kind === "failed" ? outcome.problem.message : outcome.kind);
    text = `${new TextDecoder().decode(store.chat.bytes).trimEnd()}\nAnd ${at}?\n`;
  }
  assert.deepEqual([kinds, first.problems, second.problems], [Array(3).fill("completed"), [], []]);
  assert.match(text, /One\.[^]*Two\.[^]*Three\./);
  const signed = /signature="([^"]+)"/.exec(text)?.[1];
  assert.ok(signed !== undefined && !JSON.stringify(second.requests).includes(signed), text);
});
