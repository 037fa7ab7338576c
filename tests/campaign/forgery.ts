// Replies full of text that looks like structure, in each provider's stream, cut at random bytes: exactly what was
// declared is read back, at every moment of the reply.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { createSend } from "../../cycle/send/send.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import { unescapeTurn } from "../../parser/edits/escape.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { getProvider } from "../../providers/registry.ts";
import { PIECES } from "../parser/hostile.ts";
import { DIALECTS, type Frame, stream, type StreamDialect } from "../providers/same_stream.ts";
import { oneResult } from "./hostile_results.ts";
import { type Chance, chance, pause } from "./random.ts";

/** What a provider declares, in order. Texts that follow each other are one. */
type Block =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly id: string; readonly input: string };

const ONE_TEXT = new Set(["moonshot", "openai_chat"]);
const BEFORE = ["@You:\nhi\n", "@System:\nx\n\n@You:\n```js\nopen\n", "@You:\r\nhi\r\n", "@You:\nno end"];
const ENDS = ["\n", "\n", "\n", "\n\n", "", " ", "\r\n", "\t\n"];
const LETTERS = [..."@:*`<>\\!-\n\n ", "You", "Tool Use", "thinking", "/", "é😀", "\ud83d\ude00", "\u2028"];

/** Sends so many replies; answers what they were, and throws at the first that is not read as it was declared. */
export async function forgery(count: number, seed: number): Promise<string> {
  let calls = 0;
  for (let at = 0; at < count; at++) {
    const random = chance(seed + at);
    try {
      // One of eight texts arrives in another way than a stream.
      if ((seed + at) % 8 === 0) await oneResult(random, () => hostileText(random));
      else calls += await oneReply(random);
    } catch (cause) {
      throw new Error(`the reply of seed ${seed + at}`, { cause });
    }
  }
  return `${count} replies of ${DIALECTS.length} providers with ${calls} calls: each read back as declared, nothing forged`;
}

async function oneReply(random: Chance): Promise<number> {
  const dialect = random.pick(DIALECTS);
  const before = random.pick(BEFORE);
  const blocks = declared(random);
  // Their messages have one text and a list of calls: which was first cannot be said.
  if (ONE_TEXT.has(dialect.provider)) {
    blocks.sort((a, b) => Number(a.kind === "call") - Number(b.kind === "call"));
  }
  const bytes = new TextEncoder().encode(stream(frames(random, dialect, blocks)));
  const ids = blocks.flatMap((block) => block.kind === "call" ? [block.id] : []);
  const onDisk = (text: Uint8Array) => {
    const chat = parse(text);
    const roles = chat.turns.map(({ role }) => role).slice(
      parse(new TextEncoder().encode(before)).turns.length,
    );
    assert.ok(["", "Assistant", "Assistant,You"].includes(roles.join()), `a forged turn: ${roles}`);
    const found = chat.calls.map(({ id }) => id);
    assert.deepEqual(found, ids.slice(0, found.length), "a call that was not declared");
  };
  const store = new MemoryStore(new TextEncoder().encode(before), null, onDisk);
  const outcome = await sendTo(dialect, store, arriving(random, bytes));
  const document = new TextDecoder("utf-8", { ignoreBOM: true }).decode(store.chat.bytes);
  try {
    assert.equal(outcome.kind, "completed", JSON.stringify(outcome));
    compare(readBack(store.chat), written(blocks));
  } catch (cause) {
    throw new Error(`${dialect.provider}: ${JSON.stringify(blocks)}\n${document}`, { cause });
  }
  return ids.length;
}

function declared(random: Chance): Block[] {
  const blocks: Block[] = [];
  for (let count = 1 + random.below(4); count > 0; count--) {
    if (random.below(3) > 0) blocks.push({ kind: "text", text: hostileText(random) });
    else blocks.push({ kind: "call", id: `c${blocks.length}`, input: hostileInput(random) });
  }
  return blocks;
}

function hostileText(random: Chance): string {
  let text = "";
  for (let count = 1 + random.below(8); count > 0; count--) {
    text += random.below(4) === 0
      ? Array.from({ length: 1 + random.below(6) }, () => random.pick(LETTERS)).join("")
      : "\\".repeat(random.below(6) === 0 ? 1 + random.below(3) : 0) + random.pick(PIECES) +
        random.pick(ENDS);
  }
  // NUL and a mark at the beginning of a file are no text; what becomes of them is tested beside the writer.
  return text.replaceAll("\0", "0").replaceAll("\ufeff", "f");
}

function hostileInput(random: Chance): string {
  const command = hostileText(random);
  return JSON.stringify(random.below(2) === 0 ? { command } : { command, more: [{ [command]: null }] });
}

/** The events of a reply; a text comes in as many deltas as the pieces that it was cut to. */
function frames(random: Chance, dialect: StreamDialect, blocks: readonly Block[]): Frame[] {
  let index = -1;
  const made = blocks.flatMap((block) => {
    if (block.kind === "text") return inPieces(random, block.text).flatMap((piece) => dialect.text(piece));
    index += 1;
    return dialect.call({ id: block.id, index, pieces: inPieces(random, block.input) });
  });
  return [...dialect.begin(), ...made, ...dialect.end(index >= 0 ? "calls" : "normal")];
}

/** A text cut between characters. */
function inPieces(random: Chance, text: string): string[] {
  const characters = [...text];
  const size = random.pick([1, 3, 7, 1000]);
  return Array.from(
    { length: Math.ceil(characters.length / size) },
    (_, at) => characters.slice(at * size, (at + 1) * size).join(""),
  );
}

/** Bytes as they arrive, cut anywhere; some replies come so slowly that what came is written in between. */
async function* arriving(
  random: Chance,
  bytes: Uint8Array<ArrayBuffer>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const slow = random.below(8) === 0;
  const most = slow ? Math.max(2, bytes.length >> 3) : random.pick([40, 400, 4000]);
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random.below(most);
    yield bytes.subarray(at, end);
    if (slow) await pause(0);
    at = end;
  }
}

/** Sends the document of a store to a provider that answers with these bytes. */
export async function sendTo(
  dialect: StreamDialect,
  store: MemoryStore,
  body: AsyncIterable<Uint8Array<ArrayBuffer>>,
) {
  const settings: Settings = { ...DEFAULT_SETTINGS, provider: dialect.provider, model: dialect.model };
  const provider = await getProvider(dialect.provider);
  assert.ok(provider.ok);
  const headers = { "content-type": "text/event-stream" };
  const send = createSend({
    store,
    settings,
    environment: { cwd: "/", home: "/", variables: { [dialect.keyVariable]: "k" } },
    provider: provider.value,
    tools: () => [{ name: "bash", description: "", input_schema: { type: "object" } }],
    emit: () => {},
    retry: false,
    commitInterval: 0,
    fetch: () => Promise.resolve(new Response(ReadableStream.from(body), { headers })),
  });
  return await send(new AbortController().signal);
}

/** What was declared, in a form that does not depend on blanks around texts. */
function written(blocks: readonly Block[]): string[] {
  const lines: string[] = [];
  let text = "";
  const flush = () => {
    if (text.trim() !== "") lines.push(`text ${text.trim()}`);
    text = "";
  };
  for (const block of blocks) {
    if (block.kind === "text") text += block.text;
    else {
      flush();
      lines.push(`call ${block.id} ${JSON.stringify(JSON.parse(block.input))}`);
    }
  }
  flush();
  return lines;
}

/** Nothing is more than was declared but the line that closes a fence which a text left open. */
function compare(read: readonly string[], expected: readonly string[]): void {
  const closed = read.map((line, at) => {
    const declared = expected[at] ?? "";
    const rest = line.startsWith(declared) && declared.startsWith("text ") ? line.slice(declared.length) : "";
    return /^\s*\n`{3,}$/.test(rest) ? declared : line;
  });
  assert.deepEqual(closed, expected);
}

/** The reply as a reader of the document finds it. */
function readBack(chat: Chat): string[] {
  const reply = chat.turns.find(({ role }) => role === "Assistant");
  if (reply === undefined) return [];
  return unescapeTurn(chat, reply).flatMap((segment) => {
    if (segment.kind === "tool_use") return [`call ${segment.id} ${JSON.stringify(segment.input)}`];
    if (segment.kind !== "text") return [segment.kind];
    return segment.value.trim() === "" ? [] : [`text ${segment.value.trim()}`];
  });
}
