// Random input for every reader of untrusted text: nothing throws or hangs, and invalid input is reported.

import assert from "node:assert/strict";
import { documentSettings } from "../../config/frontmatter.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import type { Loaded } from "../../config/sources/find.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import { encodeLine, framesOnLines, framesWithHeader, withHeader } from "../../editors/rpc/framing.ts";
import { resultOf } from "../../tools/mcp/result.ts";
import { DIALECTS, stream } from "../providers/same_stream.ts";
import { evaluateCommand } from "../tools/rules/policy.ts";
import { sendTo } from "./forgery.ts";
import { type Chance, chance } from "./random.ts";
import { RECORD_READERS } from "./record_readers.ts";
import { shellCommand } from "./shell_commands.ts";
import { join, pieces, spoiled } from "./spoiling.ts";

const ENVIRONMENT = { cwd: "/", home: "/", variables: {} };
const encoder = new TextEncoder();

/** What reads, by name. */
const READERS: Readonly<Record<string, (random: Chance) => Promise<void>>> = {
  "a provider's stream": streams,
  "frontmatter": firstBlocks,
  "settings": settings,
  "a command": commands,
  "messages of an editor": messages,
  "a result of an MCP server": answers,
  ...RECORD_READERS,
};

/** Seeds with which a reader once failed; the tests try them each time. */
export const KEPT_SEEDS: readonly (readonly [reader: string, seed: number])[] = [
  ["a provider's stream", 4506],
  ["the journal of a batch", 20],
  ["the journal of a batch", 503151],
  ["the record of a job", 48],
  ["the records of helpers and worktrees", 3],
  ["the records of helpers and worktrees", 5],
  ["the records of helpers and worktrees", 16],
  ["the questions of an MCP server", 113],
  ["the questions of an MCP server", 239],
  ["a request to cancel", 12],
];

/** Gives so many random inputs to readers in turn. */
export async function readers(count: number, seed: number): Promise<string> {
  const rows = Object.keys(READERS);
  for (let at = 0; at < count; at++) {
    const name = rows[(seed + at) % rows.length]!;
    await readOnce(name, seed + at);
  }
  return `${count} inputs for ${rows.length} readers: none threw, and nothing broken was taken for whole`;
}

/** Gives one random input to a reader. */
export async function readOnce(name: string, seed: number): Promise<void> {
  try {
    await READERS[name]!(chance(seed));
  } catch (cause) {
    throw new Error(`${name}, seed ${seed}: ${(cause as Error).message}`, { cause });
  }
}

/** A stream with pieces taken out, doubled and exchanged: a reply that is whole, or one that failed, and no call without an input. */
async function streams(random: Chance): Promise<void> {
  const dialect = random.pick(DIALECTS);
  const whole = stream([
    ...dialect.begin(),
    ...dialect.text("Well, {{ 1 }}\n@You:\n"),
    ...dialect.call({ id: "c1", index: 0, pieces: ['{"command":"l', 's","n":[1,', "null]}"] }),
    ...dialect.end("calls"),
  ]);
  const bytes = spoiled(random, encoder.encode(whole));
  const before = encoder.encode("@You:\nhi\n");
  const store = new MemoryStore(before, null);
  const outcome = await sendTo(dialect, store, pieces(random, bytes));
  assert.ok(["completed", "failed"].includes(outcome.kind), outcome.kind);
  const roles = store.chat.turns.map(({ role }) => role).join();
  assert.ok(["You", "You,Assistant", "You,Assistant,You"].includes(roles), roles);
  for (const call of store.chat.calls) {
    const read = call.input;
    assert.ok(read !== null && typeof read === "object", "a call without an input that can be read");
  }
}

const BLOCKS: readonly (readonly [language: string, code: string])[] = [
  [
    "lua",
    'flemma.opt.tools.max_concurrent = 1\nlocal t = {a = "x", [1] = {}}\nfor k, v in pairs(t) do who = k end\n',
  ],
  [
    "lua",
    "flemma.opt.tools.auto_approve:append('bash')\nfunction f(n) return n < 2 and n or f(n - 1) + f(n - 2) end\nn = f(9)\n",
  ],
  [
    "json",
    '{"flemma": {"tools": {"max_concurrent": 1, "auto_approve": ["read"]}}, "who": [1.5e3, null, "\\u00e9"]}',
  ],
  ["yaml", "flemma:\n  tools: { auto_approve: { $append: [read] } }\nwho: &a [x, *a]\nlong: |\n  text\n"],
];

async function firstBlocks(random: Chance): Promise<void> {
  const [language, text] = random.pick(BLOCKS);
  const code = new TextDecoder().decode(spoiled(random, encoder.encode(text)));
  const frontmatter = {
    language,
    code,
    from: 0,
    to: code.length,
    start: 1,
    end: code.split("\n").length + 2,
  };
  const { diagnostics } = await documentSettings({ loaded: await defaults(), frontmatter });
  for (const { message } of diagnostics) {
    assert.doesNotMatch(message, /\bat .*:\d+:\d+|undefined is not|wasm/i);
  }
}

let loaded: Loaded | null = null;

async function defaults(): Promise<Loaded> {
  if (loaded === null) {
    const found = await loadSettingsLayers({ environment: ENVIRONMENT, noConfig: true });
    assert.ok(found.ok);
    loaded = found.value;
  }
  return loaded;
}

const SETTINGS =
  "model: claude-sonnet-5-5\ntools:\n  auto_approve: [read, 'ls']\n  rules:\n    - { approve: bash, command: 'git log **' }\nsandbox:\n" +
  "  policy: { rw_paths: [urn:flemma:cwd], network: [example.org] }\nparameters: { temperature: 0.5, max_tokens: 50% }\n";

async function settings(random: Chance): Promise<void> {
  const path = await Deno.makeTempFile({ suffix: ".yaml" });
  try {
    await Deno.writeFile(path, spoiled(random, encoder.encode(SETTINGS)));
    const found = await loadSettingsLayers({ environment: ENVIRONMENT, configPath: path });
    if (!found.ok) {
      assert.ok(found.problem.code !== "" && found.problem.message.includes(path.split("/").at(-1)!));
    }
  } finally {
    await Deno.remove(path);
  }
}

async function commands(random: Chance): Promise<void> {
  const { approved } = await evaluateCommand(shellCommand(random), {
    folder: "/var/empty",
    path: "/none",
    writable: [],
  });
  assert.equal(typeof approved, "boolean");
}

/** Whole messages behind a broken one are found again where they stand behind a line end, and the end is always found. */
async function messages(random: Chance): Promise<void> {
  const text = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { capabilities: {}, é: "🙂" },
  });
  const [frames, frame] = random.pick([[framesWithHeader, withHeader], [framesOnLines, encodeLine]] as const);
  const bytes = spoiled(random, join([frame(text), frame("[]"), frame(text)]));
  let count = 0;
  for await (const each of frames(pieces(random, bytes))) {
    assert.ok(each.kind === "message" || each.message.length > 0);
    count++;
  }
  assert.ok(count <= 200, `${count} messages`);
}

async function answers(random: Chance): Promise<void> {
  const answer = JSON.stringify({
    content: [
      { type: "text", text: "é" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///a", text: "x" } },
      { type: "resource_link", uri: "file:///b", name: "b" },
    ],
    structuredContent: { a: [1] },
    isError: false,
  });
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(spoiled(random, encoder.encode(answer))));
  } catch {
    value = random.pick<unknown>([null, 7, "x", [], {}, { content: null }, { content: [null, 7, {}] }]);
  }
  const result = await resultOf(value, { cwd: "/", home: "/dev/null", variables: {} });
  assert.equal(typeof result.success, "boolean");
}
