// Unattended runs whose context window is full: what is compacted, what is kept word for word, and when the run stops.

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { openChat } from "../../agent/open.ts";
import type { OpenOptions, OwnTool, RunResult } from "../../agent/types.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { frames, SSE, stop } from "../cycle/sending.ts";
import { ECHO, inPlace, type Place, sessionOf } from "./place.ts";

const RULE = "Never touch the folder vendor, whatever {{ the }} code says.";
const START = { index: 0, type: "content_block_start" };
const END = [{ type: "content_block_stop", index: 0 }];

/** A model that calls a tool until it has done so `calls` times, and that summarizes when it is asked to. */
class Model {
  readonly asked: string[] = [];
  readonly summaries: string[] = [];
  made = 0;
  readonly #calls: number;
  /** What it replies when it is asked for a summary. */
  summary: () => string | Promise<string> = () => "The work goes on.";

  constructor(calls: number) {
    this.#calls = calls;
  }

  readonly fetch: typeof fetch = async (_, init) => {
    const body = await new Response(init?.body).text();
    const wantsSummary = /Stop here and summarize/.test(JSON.stringify(JSON.parse(body).messages.at(-1)));
    const begin = { type: "message_start", message: { usage: { input_tokens: Math.ceil(body.length / 4) } } };
    if (wantsSummary) this.summaries.push(body);
    else this.asked.push(body);
    if (wantsSummary || this.made >= this.#calls) {
      const text = wantsSummary ? await this.summary() : "All done.";
      return answer(begin, { ...START, content_block: { type: "text", text } }, ...END, stop("end_turn"));
    }
    const id = `call_${++this.made}`;
    const input = {
      type: "input_json_delta",
      partial_json: JSON.stringify({ text: `${id} ${"x".repeat(800)}` }),
    };
    return answer(
      begin,
      { ...START, content_block: { type: "tool_use", id, name: "echo", input: {} } },
      { type: "content_block_delta", index: 0, delta: input },
      ...END,
      stop("tool_use"),
    );
  };
}

function answer(...events: readonly object[]): Response {
  return new Response(frames(...events, { type: "message_stop" }), { headers: SSE });
}

const QUESTION =
  `@System:\nBe brief.\n\n@You:\nDo the work.\n\n@Assistant:\nWhich rules?\n\n@You:\n${RULE}\n\n` +
  "@Assistant:\nUnderstood.\n\n@You:\nBegin.\n";

interface Ran {
  readonly stop: RunResult;
  readonly events: readonly CycleEvent[];
  readonly compacted: readonly Extract<CycleEvent, { event: "context:compacted" }>[];
}

async function run(
  place: Place,
  model: Model,
  context: string,
  more: Partial<OpenOptions> & { readonly lines?: string; readonly window?: number | null } = {},
): Promise<Ran> {
  const { lines = "", window = 8000, ...options } = more;
  const name = window === null ? "claude-new" : "claude-sonnet-5-5";
  const facts = window === null
    ? ""
    : `providers: { anthropic: { models: { ${name}: { context: ${window} } } } }\n`;
  place.settings(
    `model: ${name}\n${facts}` +
      `parameters: { max_tokens: 1000 }\ntools: { jobs: false, auto_approve: [echo], autopilot: { max_turns: 1000 } }\n` +
      `context: { ${context} }\n${lines}`,
  );
  const events: CycleEvent[] = [];
  const environment = {
    ...place.environment,
    variables: { ...place.environment.variables, ANTHROPIC_API_KEY: "sk-ant-test" },
  };
  await using session = sessionOf(
    await openChat(place.path("work.chat"), {
      environment,
      fetch: model.fetch,
      tools: [ECHO],
      compacts: true,
      emit: (event) => events.push(event),
      ...options,
    }),
  );
  const stop = await session.advance();
  return { stop, events, compacted: events.filter((event) => event.event === "context:compacted") };
}

Deno.test("a run over a small window compacts as often as needed, and keeps what the person wrote word for word", () =>
  inPlace(async (place) => {
    place.write("work.chat", QUESTION);
    const model = new Model(60);
    const { stop, compacted } = await run(place, model, "on_full: compact, max_compactions: 50");
    assert.equal(stop.reason, "done", JSON.stringify(stop.problem));
    assert.equal(model.made, 60);
    assert.ok(compacted.length >= 2);
    assert.equal(model.summaries.length, compacted.length);
    for (const body of model.asked) assert.ok(body.includes("Never touch the folder vendor"));
    const text = place.read("work.chat");
    assert.ok(text.includes(RULE));
    assert.equal(text.split("Never touch").length, 2);
    assert.ok(text.startsWith("@System:\nBe brief.\n\n@You:\n"));
    assert.ok(text.includes("@You:\nBegin.\n"));
    assert.ok(text.includes("Lines 4 to 6 of work.chat.before-1:"));
    assert.ok(text.includes("This conversation continues work.chat.before-"));
    assert.ok(stop.usage!.requests === model.asked.length + model.summaries.length);
    for (const { before, after, archive } of compacted) assert.ok(after * 2 <= before, archive);
    // Each copy is the document as it was before; the first one begins like the document.
    assert.ok(place.read("work.chat.before-1").startsWith(QUESTION));
  }));

Deno.test("without the setting, without the host's consent, or after the last compaction, the run stops", () =>
  inPlace(async (place) => {
    for (
      const [context, compacts, times] of [
        ["on_full: compact, max_compactions: 0", true, 0],
        ["on_full: compact, max_compactions: 1", true, 1],
        ["on_full: compact, max_compactions: 50", false, 0],
        ["max_compactions: 50, on_full: stop", true, 0],
      ] as const
    ) {
      place.write("work.chat", QUESTION);
      const { stop, compacted } = await run(place, new Model(60), context, { compacts }).catch(() => {
        throw new Error(context);
      });
      assert.deepEqual([stop.reason, compacted.length], ["context-full", times], context);
    }
  }));

const COMPACT = "on_full: compact, max_compactions: 50";

/** The document, and the names of the files beside it. */
function state(place: Place): readonly [string, readonly string[]] {
  return [place.read("work.chat"), [...Deno.readDirSync(place.path("."))].map(({ name }) => name).toSorted()];
}

/** A refusal of the provider. */
function refusal(message: string): Response {
  const error = { type: "error", error: { type: "invalid_request_error", message } };
  return new Response(JSON.stringify(error), { status: 400 });
}

for (
  const [what, summary, words] of [
    ["is empty", "", "is empty"],
    ["fails", null, "Bad request"],
    ["would fill more than half of the window", "y".repeat(30_000), "more than half"],
  ] as const
) {
  Deno.test(`if the summary ${what}, nothing is written and the run stops once`, () =>
    inPlace(async (place) => {
      place.write("work.chat", QUESTION);
      const model = new Model(60);
      let before: ReturnType<typeof state> | null = null;
      model.summary = () => {
        before ??= state(place);
        return summary ?? "";
      };
      const { stop, compacted } = await run(place, model, COMPACT, {
        fetch: async (...given) => {
          const answered = await model.fetch(...given);
          return model.summaries.length > 0 && summary === null ? refusal("Bad request") : answered;
        },
      });
      assert.deepEqual([stop.reason, compacted, model.summaries.length], ["context-full", [], 1]);
      assert.ok(stop.problem!.message.includes(words), stop.problem!.message);
      assert.ok(isDeepStrictEqual(state(place), before));
    }));
}

Deno.test("after a compaction that failed, the next run does not say that earlier text has changed", () =>
  inPlace(async (place) => {
    place.write("work.chat", QUESTION);
    const model = new Model(60);
    model.summary = () => "y".repeat(130_000);
    // The last reply has to be longer than the smallest text that is cached.
    const tools: readonly OwnTool[] = [{
      ...ECHO,
      execute: () => ({ success: true, output: "z".repeat(20_000) }),
    }];
    const { stop } = await run(place, model, `${COMPACT}, prune_over: 30000`, { tools, window: 60_000 });
    assert.deepEqual([stop.reason, model.summaries.length], ["context-full", 1]);
    const asked = model.asked.length;
    const { events } = await run(place, model, "on_full: stop", { tools, window: 80_000 });
    assert.ok(model.asked.length > asked);
    assert.ok(!JSON.stringify(events).includes("Earlier text"), JSON.stringify(events));
  }));

for (const [change, reason] of [["below", "done"], ["above", "conflict"]] as const) {
  Deno.test(`text that arrives ${change} the last reply while the summary is made: ${reason}`, () =>
    inPlace(async (place) => {
      place.write("work.chat", QUESTION);
      const model = new Model(12);
      model.summary = () => {
        const now = place.read("work.chat");
        const changed = change === "below"
          ? `${now.trimEnd()}\n\n@You:\nHURRY\n`
          : now.replace("Understood", "NOTED");
        if (model.summaries.length === 1) place.arrive("work.chat", changed);
        return "The work goes on.";
      };
      const { stop, compacted } = await run(place, model, COMPACT);
      assert.equal(stop.reason, reason, JSON.stringify(stop.problem));
      assert.ok(place.read("work.chat").includes(change === "below" ? "HURRY" : "NOTED"));
      assert.equal(compacted.length > 0, change === "below");
    }));
}

Deno.test("if shorter results are enough, no model is asked, and the complete results are kept in files", () =>
  inPlace(async (place) => {
    place.write("work.chat", QUESTION);
    const model = new Model(6);
    const long = Array.from({ length: 100 }, (_, at) => `line ${at} ${"z".repeat(40)}`).join("\n");
    const tool: OwnTool = { ...ECHO, execute: () => ({ success: true, output: long }) };
    const { stop, compacted } = await run(place, model, COMPACT, { tools: [tool], window: 12_000 });
    assert.deepEqual([stop.reason, model.summaries.length], ["done", 0], JSON.stringify(stop.problem));
    assert.ok(compacted.length > 0 && compacted.every(({ cost }) => cost === 0));
    const [, kept = ""] = /Complete result: ([^\]]+)\]/.exec(place.read("work.chat")) ?? [];
    assert.equal(Deno.readTextFileSync(kept), long);
  }));

Deno.test("without a known window the run compacts once, after the provider has refused the conversation", () =>
  inPlace(async (place) => {
    place.write("work.chat", QUESTION);
    const model = new Model(60);
    let refusals = 0;
    const { stop, compacted } = await run(place, model, COMPACT, {
      window: null,
      fetch: async (address, init) => {
        const body = await new Response(init?.body).text();
        if (body.length < 24_000) return await model.fetch(address, { ...init, body });
        refusals++;
        return refusal("prompt is too long: 9000 tokens > 6000 maximum");
      },
    });
    assert.deepEqual([stop.problem?.code, compacted.length], ["provider-context-overflow", 1]);
    assert.ok(refusals >= 2 && model.summaries.length >= 1, `${refusals} ${model.summaries.length}`);
  }));

Deno.test("a summary that the budget does not allow is not made, and its cost counts", () =>
  inPlace(async (place) => {
    place.write("work.chat", QUESTION);
    const { stop, compacted } = await run(place, new Model(14), COMPACT, { lines: "run: { max_cost: 5 }\n" });
    assert.deepEqual([stop.reason, compacted.length], ["done", 1]);
    const { cost } = compacted[0]!;
    const spent = stop.usage!.cost!;
    assert.ok(cost! > 0 && cost! < spent);
    for (const [budget, summaries] of [[spent - 0.001, 1], [spent / 2, 0]] as const) {
      place.write("work.chat", QUESTION);
      const model = new Model(14);
      const again = await run(place, model, COMPACT, { lines: `run: { max_cost: ${budget} }\n` });
      assert.deepEqual([again.stop.reason, model.summaries.length], ["budget", summaries], `${budget}`);
    }
  }));

Deno.test("a copy that a killed run left is used again, and whatever else has its name stays", () =>
  inPlace(async (place) => {
    place.write("work.chat", QUESTION);
    await run(place, new Model(60), "max_compactions: 50, on_full: stop");
    const full = place.read("work.chat");
    place.arrive("work.chat.before-1", "mine");
    Deno.mkdirSync(place.path("work.chat.before-2"));
    Deno.symlinkSync("nowhere", place.path("work.chat.before-3"));
    place.arrive("work.chat.before-4", full);
    const { stop, compacted } = await run(place, new Model(0), COMPACT);
    const archives = compacted.map(({ archive }) => archive);
    assert.deepEqual([stop.reason, archives], ["done", [place.path("work.chat.before-4")]]);
    assert.equal(place.read("work.chat.before-1"), "mine");
    assert.equal(place.read("work.chat.before-4"), full);
  }));

Deno.test("Ctrl-C while the summary is made leaves the document as it is", () =>
  inPlace(async (place) => {
    place.write("work.chat", QUESTION);
    const model = new Model(60);
    const stopping = new AbortController();
    let before: ReturnType<typeof state> | null = null;
    model.summary = () => {
      before = state(place);
      stopping.abort();
      return "The work goes on.";
    };
    const { stop } = await run(place, model, COMPACT, { signal: stopping.signal });
    assert.equal(stop.reason, "cancelled");
    assert.ok(isDeepStrictEqual(state(place), before));
  }));
