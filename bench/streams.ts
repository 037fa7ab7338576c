// Streams: the speed and memory of each provider's reader for 100 MB, and the cost of a piece of a reply in a small and
// in a large document.

import { cpuUsage } from "node:process";
import { ReplyWriter } from "../cycle/send/reply.ts";
import { openTurn } from "../parser/edits/turn.ts";
import { parse, update } from "../parser/mod.ts";
import { createSseReader } from "../providers/http/sse.ts";
import { getProvider } from "../providers/registry.ts";
import type { Provider } from "../providers/types.ts";
import { conversation } from "./conversation.ts";
import type { Bench, Figure } from "./harness.ts";

const STREAM_BYTES = 100 * 1024 * 1024;
const CHUNK = 16 * 1024;
const PIECES = 2000;

/** One piece of a model's text: about the length of real pieces, and not all of it ASCII. */
const WORDS = "The Tay rises on Ben Lui – 120 miles of it 🙂. ";

/** One event with a piece of a reply, as each API sends it. */
const EVENTS: Readonly<Record<string, string>> = {
  anthropic: event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: WORDS } }),
  openai: event({
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    delta: WORDS,
    sequence_number: 7,
  }),
  gemini: event({
    candidates: [{ content: { role: "model", parts: [{ text: WORDS }] }, index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: "gemini-3.8-flash",
  }),
  moonshot: chunk("kimi-k3.1-pro"),
  openai_chat: chunk("qwen3:8b"),
};

function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function chunk(model: string): string {
  return event({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model,
    choices: [{ index: 0, delta: { content: WORDS }, finish_reason: null }],
  });
}

/** An endless stream of events as chunks of bytes, split at chunk borders. */
function* chunks(one: string): Generator<Uint8Array> {
  const bytes = new TextEncoder().encode(one.repeat(Math.ceil((4 * CHUNK) / one.length)));
  for (let at = 0, sent = 0; sent < STREAM_BYTES; sent += CHUNK) {
    const end = at + CHUNK;
    if (end <= bytes.length) yield bytes.subarray(at, end);
    else {
      const joined = new Uint8Array(CHUNK);
      joined.set(bytes.subarray(at));
      joined.set(bytes.subarray(0, end - bytes.length), bytes.length - at);
      yield joined;
    }
    at = end % bytes.length;
  }
}

/** Megabytes per second of processor time that a reader processes, and the peak growth of memory in megabytes. */
function read(provider: Provider, one: string): { readonly speed: number; readonly growth: number } {
  const reader = provider.reader();
  let characters = 0;
  const sse = createSseReader({
    onData(data) {
      for (const effect of reader.event(JSON.parse(data))) {
        if (effect.kind === "text") characters += effect.text.length;
      }
    },
    onLine() {},
  });
  const { rss } = Deno.memoryUsage();
  let most = 0;
  let count = 0;
  const start = cpuUsage();
  for (const bytes of chunks(one)) {
    sse.feed(bytes);
    if (++count % 256 === 0) most = Math.max(most, Deno.memoryUsage().rss);
  }
  // Processor time, so that other work of the machine does not count.
  const { user, system } = cpuUsage(start);
  const seconds = (user + system) / 1e6;
  if (characters === 0) throw new Error(`${provider.name}: nothing was read`);
  return { speed: STREAM_BYTES / 1024 / 1024 / seconds, growth: Math.max(0, most - rss) / 1024 / 1024 };
}

/** Milliseconds for one piece of a reply, from the event to the parsed document. */
function pieceCost(provider: Provider, one: string, bytes: number): number {
  let chat = parse(conversation(bytes));
  const reader = provider.reader();
  const writer = new ReplyWriter(openTurn(chat, "Assistant"), chat.eol);
  const data = one.slice("data: ".length).trim();
  const times: number[] = [];
  for (let piece = 0; piece < PIECES; piece++) {
    const start = performance.now();
    for (const effect of reader.event(JSON.parse(data))) writer.apply(effect);
    const { byteLength } = chat;
    chat = update(chat, [{ from: byteLength, to: byteLength, insert: writer.take().join("") }]);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[PIECES >> 1]!;
}

const bench: Bench = {
  name: "streams",
  about:
    "100 MB through each stream reader, and one piece of a reply written to documents of 10 KB and 10 MB",
  async run() {
    const figures: Figure[] = [];
    for (const [name, one] of Object.entries(EVENTS)) {
      const found = await getProvider(name);
      if (!found.ok) throw new Error(found.problem.message);
      const provider = found.value;
      // A first run, to compile the code.
      read(provider, one);
      const { speed, growth } = read(provider, one);
      figures.push(
        { case: `${name}, 100 MB`, value: speed, unit: "MB/s", goal: 50, atLeast: true },
        { case: `${name}, extra memory`, value: growth, unit: "MB", goal: 32 },
      );
      const small = pieceCost(provider, one, 10 * 1024);
      const large = pieceCost(provider, one, 10 * 1024 * 1024);
      figures.push(
        { case: `${name}, a piece at 10 KB`, value: small, unit: "ms" },
        {
          case: `${name}, a piece at 10 MB`,
          value: large,
          unit: "ms",
          against: `${name}, a piece at 10 KB`,
          goal: 1.5,
        },
      );
    }
    return figures;
  },
};

export default bench;
