// The provider's prompt cache across the helpers of a document, by the figures of servers that cache as the real ones do.

import assert from "node:assert/strict";
import { helperFolderOf } from "../../base/paths.ts";
import { recordsOf } from "../../cycle/usage/log.ts";
import { openChat } from "../../agent/open.ts";
import { frames, SSE, stop } from "../cycle/sending.ts";
import { inPlace, type Place, sessionOf } from "./place.ts";

/** Presets whose instructions are long enough that a provider caches them. */
const SETTINGS = `tools: { $append: [ask_document], auto_approve: [$default, ask_document] }
presets: { $reader: { tools: [read], system: "${"You read carefully. ".repeat(400)}" } }
`;

type Message = { readonly content: unknown; readonly role?: string };

interface Body {
  readonly system?: readonly object[];
  readonly tools?: readonly object[];
  readonly messages?: readonly Message[];
  readonly instructions?: string;
  readonly input?: readonly object[];
  readonly prompt_cache_key?: string;
}

const tokens = (text: string) => Math.ceil(text.length / 4);

/** Caches the prefixes that end at a mark `cache_control`, in the order tools, system, messages. */
class MarkedPrefixes {
  readonly #known = new Set<string>();

  /** Returns the tokens that are read from the cache. */
  read({ tools = [], system = [], messages = [] }: Body): number {
    const blocks = [...tools, ...system, ...messages.flatMap(({ content }) => content as object[])];
    let prefix = "";
    let read = 0;
    for (const { cache_control, ...block } of blocks as { cache_control?: object }[]) {
      prefix += JSON.stringify(block);
      if (cache_control === undefined) continue;
      if (this.#known.has(prefix)) read = tokens(prefix);
      this.#known.add(prefix);
    }
    return read;
  }
}

/** Caches every prefix of a request, by the key with which it was sent. */
class KeyedPrefixes {
  readonly #known = new Set<string>();

  read({ prompt_cache_key = "", tools = [], instructions = "", input = [] }: Body): number {
    let prefix = prompt_cache_key;
    let read = 0;
    for (const part of [tools, instructions, ...input]) {
      prefix += JSON.stringify(part);
      if (this.#known.has(prefix)) read = tokens(prefix) - tokens(prompt_cache_key);
      this.#known.add(prefix);
    }
    return read;
  }
}

const question = (name: string) => ({
  question: `Question ${name}?`,
  document: null,
  name,
  preset: "$reader",
  files: null,
});

function anthropicReply(calls: readonly string[], read: number, input: number): Response {
  const blocks = calls.length === 0 ? [{ type: "text", text: "Yes." }] : calls.map((name) => ({
    type: "tool_use",
    id: `ask_${name}`,
    name: "ask_document",
    input: question(name),
  }));
  const usage = { input_tokens: input - read, cache_read_input_tokens: read, output_tokens: 1 };
  const events = blocks.flatMap((block, index) => [
    {
      type: "content_block_start",
      index,
      content_block: block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} },
    },
    {
      type: "content_block_delta",
      index,
      delta: block.type === "text"
        ? { type: "text_delta", text: "Yes." }
        : { type: "input_json_delta", partial_json: JSON.stringify((block as { input: object }).input) },
    },
    { type: "content_block_stop", index },
  ]);
  return new Response(
    frames(
      { type: "message_start", message: { usage } },
      ...events,
      stop(calls.length === 0 ? "end_turn" : "tool_use"),
      { type: "message_stop" },
    ),
    { headers: SSE },
  );
}

function openaiReply(calls: readonly string[], read: number, input: number): Response {
  const output = calls.length === 0
    ? [{
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Yes.", annotations: [] }],
    }]
    : calls.map((name) => ({
      type: "function_call",
      id: `fc_${name}`,
      call_id: `ask_${name}`,
      name: "ask_document",
      arguments: JSON.stringify(question(name)),
      status: "completed",
    }));
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: read },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + 1,
  };
  const events: object[] = [{
    type: "response.created",
    response: { id: "r", status: "in_progress", output: [] },
  }];
  for (const [at, item] of output.entries()) {
    const begun = item.type === "message" ? { ...item, content: [] } : { ...item, arguments: "" };
    events.push({ type: "response.output_item.added", output_index: at, item: begun });
    if (item.type === "message") {
      events.push({
        type: "response.output_text.delta",
        output_index: at,
        content_index: 0,
        item_id: "msg_1",
        delta: "Yes.",
      });
    }
    events.push({ type: "response.output_item.done", output_index: at, item });
  }
  events.push({ type: "response.completed", response: { id: "r", status: "completed", output, usage } });
  const text = events.map((event, at) =>
    `event: ${(event as { type: string }).type}\ndata: ${
      JSON.stringify({ ...event, sequence_number: at })
    }\n\n`
  ).join("");
  return new Response(text, { headers: SSE });
}

/** Lets a document ask one helper, then three in parallel. Returns what each helper's request read from the cache. */
async function cachedOf(
  place: Place,
  settings: string,
  cache: { read(body: Body): number },
  reply: typeof anthropicReply,
): Promise<Readonly<Record<string, number>>> {
  place.settings(SETTINGS + settings);
  place.write("notes.chat", "@You:\nAsk somebody.\n");
  const variables = { ...place.environment.variables, ANTHROPIC_API_KEY: "sk-ant-x", OPENAI_API_KEY: "sk-x" };
  const environment = { ...place.environment, variables };
  const model: typeof fetch = async (_, init) => {
    const text = await new Response(init?.body).text();
    const read = cache.read(JSON.parse(text));
    const isCaller = text.includes("Ask somebody");
    const calls = !isCaller
      ? []
      : text.includes("Question two?")
      ? []
      : text.includes("Question one?")
      ? ["two", "three", "four"]
      : ["one"];
    return reply(calls, read, tokens(text));
  };
  await using session = sessionOf(await openChat(place.path("notes.chat"), { environment, fetch: model }));
  const { reason, problem } = await session.advance();
  assert.equal(reason, "done", problem?.message);
  const folder = helperFolderOf(place.path("notes.chat"));
  const found: Record<string, number> = {};
  for (const name of ["one", "two", "three", "four"]) {
    const [record] = await recordsOf(environment, `${folder}/${name}.chat`);
    found[name] = record!.usage.cache_read;
  }
  return found;
}

Deno.test("Anthropic: all helpers after the first read tools and instructions from the cache", () =>
  inPlace(async (place) => {
    const { one, ...others } = await cachedOf(place, "", new MarkedPrefixes(), anthropicReply);
    assert.equal(one, 0);
    for (const [name, read] of Object.entries(others)) assert.ok(read > 2000, `${name}: ${read}`);
  }));

Deno.test("OpenAI: all helpers after the first read tools and instructions from the cache", () =>
  inPlace(async (place) => {
    const settings = "provider: openai\nmodel: gpt-5.5\n";
    const { one, ...others } = await cachedOf(place, settings, new KeyedPrefixes(), openaiReply);
    assert.equal(one, 0);
    for (const [name, read] of Object.entries(others)) assert.ok(read > 2000, `${name}: ${read}`);
  }));
