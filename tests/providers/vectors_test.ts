// The vectors of all providers: the request byte for byte, and the result of a streamed answer.

import assert from "node:assert/strict";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import { dryRun } from "../../cycle/send/request.ts";
import { createSend } from "../../cycle/send/send.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { parse } from "../../parser/mod.ts";
import { findModel, pricesAt } from "../../providers/models/find.ts";
import { getProvider } from "../../providers/registry.ts";
import { costOf, promptTokens } from "../../providers/models/usage.ts";
import type { OfferedTool, Provider } from "../../providers/types.ts";
import { refusals } from "../../providers/replay/strict/anthropic.ts";
import { serve } from "./loopback.ts";

const VECTORS = new URL("../vectors/providers/", import.meta.url);
const DAY = "2026-11-28";

interface RequestVector {
  readonly kind: "request";
  readonly model: string;
  readonly document_file: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly tools: readonly OfferedTool[];
  readonly files: Readonly<Record<string, string>>;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly top_level_key_order: readonly string[];
  readonly compare?: { readonly trim_text?: boolean; readonly json_strings?: readonly string[] };
}

interface StreamVector {
  readonly kind: "stream";
  readonly model: string;
  readonly document_before: string;
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body_file: string;
    readonly transport?: "complete" | "reset";
  };
  readonly document_after: string;
  readonly usage: unknown;
  readonly cost: Readonly<Record<string, number>> | null;
  readonly error: {
    readonly message?: string;
    readonly class: string;
    readonly details?: readonly string[];
  } | null;
  readonly warnings: readonly string[];
  readonly signatures?: Readonly<Record<string, unknown>>;
  readonly id_patterns?: Readonly<Record<string, string>>;
}

/** What decisions changed in a vector; each with its reason beside it. */
interface Change {
  /** `MESSAGE` stands for whatever the failure says. */
  readonly document_after?: string;
  readonly error?: StreamVector["error"];
  readonly warnings?: readonly string[];
  /** A text of the expectation, and what stands in its place. */
  readonly replaced?: readonly [string, string];
  /** Members of the body; undefined takes one out. */
  readonly body?: Readonly<Record<string, unknown>>;
}

const TAY = "@You:\nWhere does the river Tay begin?\n";
const PRIME = "@You:\nName a prime above 90.\n";
const BOTH = "@You:\nCompare the two files.\n";

/** A share of the output limit of Sonnet 4.6, which is 128,000 tokens and not 64,000 as the vectors have it. */
const HALF = { max_tokens: 64_000 };

const CHANGED: Readonly<Record<string, Change>> = {
  "anthropic/request-basic": { body: HALF },
  "anthropic/request-aborted": { body: HALF },
  "anthropic/request-media": { body: HALF },
  // A reply cut short by an error ends with an abort marker, whatever the error.
  "anthropic/error-mid-stream": {
    document_after:
      `${TAY}\n@Assistant:\nIt rises\n\n<!-- flemma:aborted: api_error — Internal server error -->\n`,
  },
  // A stream without its closing event is an error of class network.
  "anthropic/network-drop": {
    document_after: `${TAY}\n@Assistant:\nIt rises on Ben\n\n<!-- flemma:aborted: MESSAGE -->\n`,
    error: { class: "network" },
  },
  // "Settled" 1: a failed send with nothing received leaves the document byte-identical.
  "anthropic/overloaded-event": { document_after: TAY },
  "anthropic/rate-limit-429": { document_after: TAY },
  // The same; and the class says what it is (the vector has the ancestor's policy, which knows none).
  "anthropic/invalid-key": {
    document_after: TAY,
    error: { message: "authentication_error — invalid x-api-key", class: "authentication" },
  },
  // "Settled" 4: thinking stands where it occurred in the stream, one block per content block.
  "anthropic/interleaved-thinking": {
    document_after:
      `${TAY}\n@Assistant:\n<thinking anthropic:signature="c2lnQQ==">\none\n</thinking>\n\nFirst.\n\n` +
      `<thinking anthropic:signature="c2lnQg==">\ntwo\n</thinking>\n\n**Tool Use:** \`bash\` (\`toolu_5a\`)\n\n` +
      '```json\n{"command":"ls"}\n```\n\n@You:\n\n',
  },
  "anthropic/redacted-thinking": {
    document_after:
      `${TAY}\n@Assistant:\n<thinking redacted>\nUkVEQUNURUQtQkxPQg==\n</thinking>\n\nDone.\n\n@You:\n\n`,
  },
  // The same, and blanks at the ends of signed thinking count.
  "anthropic/thinking-signature": {
    document_after:
      `${TAY}\n@Assistant:\n<thinking anthropic:signature="Zm9vYmFyMQ==">\nThe Tay is in Perthshire.\n` +
      "Its headwater is the Allt Coire Laoigh.\n\n</thinking>\n\nBen Lui.\n\n@You:\n\n",
  },
  "anthropic/tool-first-with-thinking": {
    document_after:
      `${BOTH}\n@Assistant:\n<thinking anthropic:signature="c2lnLTE=">\nList first.\n</thinking>\n\n` +
      '**Tool Use:** `bash` (`toolu_1c`)\n\n```json\n{"command":"ls"}\n```\n\n@You:\n\n',
  },
  // What came before a refusal must not be gone on from, so it is marked like any reply that broke off.
  "anthropic/refusal": {
    document_after:
      `${TAY}\n@Assistant:\n<thinking anthropic:signature="c2lnUg==">\nhm\n</thinking>\n\nI\n\n` +
      "<!-- flemma:aborted: Response blocked by Anthropic (refusal) -->\n",
    error: { message: "Response blocked by Anthropic (refusal)", class: "blocked" },
  },
  // A budget for thinking leaves room for the reply.
  "anthropic/request-history": { body: { thinking: { type: "enabled", budget_tokens: 6976 } } },
  // Where a file lies on this machine is not told; the model needs its name only.
  "openai/request-basic": { body: { prompt_cache_key: "ID" } },
  "openai/request-media": {
    replaced: ["/home/ada/deep/spec.pdf", "spec.pdf"],
    body: { prompt_cache_key: "ID" },
  },
  // A reply cut short by an error ends with an abort marker, whatever the error.
  "openai/failed": {
    document_after: `${PRIME}\n@Assistant:\nNine\n\n<!-- flemma:aborted: The model stumbled. -->\n`,
  },
  // "Settled" 1: a failed send with nothing received leaves the document byte-identical; and the status is named.
  "openai/html-503": {
    document_after: PRIME,
    error: {
      message:
        "HTTP 503: Unexpected API response: <html> <head><title>503</title></head> <body> <h1>Back soon</h1> </body> </html>",
      class: "other",
    },
  },
  "openai/stream-error-event": { document_after: PRIME },
  "vertex/unauthenticated": { document_after: PRIME },
  // "Settled" 4: thinking stands where it occurred in the stream.
  "openai/reasoning-no-summary": {
    document_after:
      `${PRIME}\n@Assistant:\n<thinking openai:signature="{{SIG1}}">\n</thinking>\n\n97.\n\n@You:\n\n`,
  },
  "openai/reasoning-text": {
    document_after:
      `${PRIME}\n@Assistant:\n<thinking openai:signature="{{SIG1}}">\nTest divisors to nine.\n</thinking>\n\n97.\n\n@You:\n\n`,
  },
  "moonshot/length": {
    document_after: `${PRIME}\n@Assistant:\n<thinking>\nlong thought\n</thinking>\n\nNin\n\n@You:\n\n`,
  },
  "moonshot/reasoning-text": {
    document_after: `${PRIME}\n@Assistant:\n<thinking>\n97 = 97 × 1.\n</thinking>\n\nIt is 97.\n\n@You:\n\n`,
  },
  "moonshot/tool-calls": {
    document_after: `${BOTH}\n@Assistant:\n<thinking>\ntwo reads\n</thinking>\n\nOk\n\n` +
      '**Tool Use:** `read` (`read:0`)\n\n```json\n{"path": "a.txt"}\n```\n\n' +
      '**Tool Use:** `read` (`read:1`)\n\n```json\n{"path": "b.txt"}\n```\n\n@You:\n\n',
  },
  "vertex/thinking-text": {
    document_after:
      `${PRIME}\n@Assistant:\n<thinking vertex:signature="VlNJRzE=">\nCheck **97**.\nNo divisor.\n</thinking>\n\n97\n\n@You:\n\n`,
  },
  // The same; the signature stands before the call that it signs.
  "vertex/function-calls": {
    document_after:
      `${BOTH}\n@Assistant:\nLet me see.\n\n<thinking vertex:signature="RkMtU0lH">\n</thinking>\n\n` +
      '**Tool Use:** `read` (`{{ID1}}`)\n\n```json\n{"path":"a.txt"}\n```\n\n' +
      '**Tool Use:** `mail:send` (`{{ID2}}`)\n\n```json\n{"to":["x"],"n":2}\n```\n\n@You:\n\n',
  },
  // "Settled" 3: success without any content adds nothing, and is told of once.
  "vertex/empty-stop": { document_after: PRIME },
  // The class says what it is (the vectors have the ancestor's, which knows none), and what came of a reply that the
  // provider broke off is marked, so that nobody goes on from it.
  "moonshot/content-filter": {
    document_after:
      `${PRIME}\n@Assistant:\nNi\n\n<!-- flemma:aborted: Response blocked by Moonshot AI (content_filter) -->\n`,
    error: { message: "Response blocked by Moonshot AI (content_filter)", class: "blocked" },
  },
  "vertex/safety": {
    document_after:
      `${PRIME}\n@Assistant:\nWell\n\n<!-- flemma:aborted: Response blocked by Vertex AI (SAFETY) -->\n`,
    error: { message: "Response blocked by Vertex AI (SAFETY)", class: "blocked" },
  },
  // Kimi refuses every temperature but the one it has anyway.
  "moonshot/request-history": { body: { temperature: undefined } },
};

async function providerOf(name: string): Promise<Provider> {
  const provider = await getProvider(name);
  assert.ok(provider.ok);
  return provider.value;
}

function settingsWith(model: string, parameters: Readonly<Record<string, unknown>>): Settings {
  const { thinking, ...rest } = parameters;
  const isWhole = typeof thinking === "object" && thinking !== null;
  const merged = {
    ...DEFAULT_SETTINGS.parameters,
    ...rest,
    ...(thinking === undefined
      ? {}
      : { thinking: isWhole ? thinking : { ...DEFAULT_SETTINGS.parameters.thinking, level: thinking } }),
  } as Settings["parameters"];
  const own = { ...merged, vertex: { project_id: "demo", ...merged.vertex } };
  // The vectors of requests with text files have the bare text of the older program.
  const files = { ...DEFAULT_SETTINGS.files, names: false };
  return { ...DEFAULT_SETTINGS, model, parameters: own, files };
}

/** Members that hold JSON text are compared as JSON; blanks at the ends of texts count only where the vector says so. */
function comparable(value: unknown, { trim_text, json_strings = [] }: NonNullable<RequestVector["compare"]>) {
  return JSON.parse(
    JSON.stringify(value),
    (key, member) =>
      typeof member !== "string"
        ? member
        : json_strings.includes(key)
        ? JSON.parse(member)
        : trim_text && (key === "text" || key === "content")
        ? member.trim()
        : member,
  );
}

/** Keys are sorted at every depth of what is built; inputs and reasoning keep the order in which they came. */
function assertSorted(value: unknown, path: string): void {
  if (Array.isArray(value)) return value.forEach((item, index) => assertSorted(item, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return;
  if ("type" in value && value.type === "reasoning") return;
  const keys = Object.keys(value);
  assert.deepEqual(keys, [...keys].sort(), path);
  for (const [key, member] of Object.entries(value)) {
    if (key !== "args" && key !== "input") assertSorted(member, `${path}.${key}`);
  }
}

async function checkRequest(provider: string, vector: RequestVector, change: Change): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-provider-" }));
  // Paths stand in requests under the folder that the vectors were made in.
  const place = (text: string) => text.replaceAll("/home/ada", folder);
  try {
    for (const [file, base64] of Object.entries(vector.files)) {
      await Deno.mkdir(`${folder}/${file}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeFile(`${folder}/${file}`, Uint8Array.fromBase64(base64));
    }
    const prepared = await dryRun({
      chat: parse(Deno.readFileSync(new URL(`${provider}/${vector.document_file}`, VECTORS))),
      document: `${folder}/talk.chat`,
      settings: settingsWith(vector.model, vector.parameters),
      environment: { cwd: folder, home: folder, variables: {} },
      provider: await providerOf(provider),
      tools: vector.tools,
      now: new Date(`${DAY}T12:00:00Z`),
    });
    assert.ok(prepared.kind === "ready", JSON.stringify(prepared));
    const { request } = prepared;
    assert.equal(request.method, vector.method);
    assert.equal(request.url, vector.url);
    for (const [header, value] of Object.entries(vector.headers)) {
      assert.equal(request.headers[header], value.replace("KEY", "[hidden]"), header);
    }
    // The key under which the provider caches the document is random.
    const sent = request.body.replace(/"prompt_cache_key":"[0-9a-f]{32}"/, '"prompt_cache_key":"ID"');
    const body = JSON.parse(sent);
    const [was, is] = change.replaced ?? ["", ""];
    const wanted = JSON.stringify({ ...vector.body, ...change.body });
    const expected = JSON.parse(place(was === "" ? wanted : wanted.replace(was, is)));
    assert.deepEqual(comparable(body, vector.compare ?? {}), comparable(expected, vector.compare ?? {}));
    const order = vector.top_level_key_order.filter((key) =>
      !(key in (change.body ?? {})) || change.body?.[key] !== undefined
    );
    assert.deepEqual(Object.keys(body), order);
    for (const [key, member] of Object.entries(body)) assertSorted(member, key);
    assert.equal(sent, JSON.stringify(body), "only compact JSON");
    if (provider === "anthropic") {
      assert.deepEqual(refusals(request.body, body), [], "the strict server takes it");
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The expected document as a pattern: ids that are made up, and signatures, stand in double braces. */
function assertDocument(actual: string, vector: StreamVector, expected: string): void {
  const patterns = Object.entries(vector.id_patterns ?? {});
  const escaped = expected.replace(/[.*+?^$()|[\]\\{}]/g, "\\$&")
    .replace(/\\{\\{(\w+)\\}\\}/g, (_, name) => `(?<${name}>[^"\`]*)`);
  const match = new RegExp(`^${escaped}$`).exec(actual);
  assert.ok(match !== null, `expected:\n${expected}\nactual:\n${actual}`);
  for (const [name, pattern] of patterns) assert.match(match.groups![name]!, new RegExp(pattern));
  const ids = patterns.map(([name]) => match.groups![name]);
  assert.equal(new Set(ids).size, ids.length);
  for (const [name, item] of Object.entries(vector.signatures ?? {})) {
    assert.deepEqual(JSON.parse(atob(match.groups![name]!)), item);
  }
}

async function checkStream(
  provider: string,
  vector: StreamVector,
  change: Change,
  chunk: number | undefined,
): Promise<void> {
  const { response } = vector;
  const server = serve(() => ({
    status: response.status,
    headers: response.headers,
    body: Deno.readFileSync(new URL(`${provider}/${response.body_file}`, VECTORS)),
    chunk,
    reset: response.transport === "reset",
  }));
  try {
    const store = new MemoryStore(new TextEncoder().encode(vector.document_before), null);
    const events: CycleEvent[] = [];
    const used = await providerOf(provider);
    const send = createSend({
      store,
      settings: settingsWith(vector.model, {}),
      environment: {
        cwd: "/",
        home: "/",
        variables: {
          [used.keyVariables[0]!]: "KEY",
          [`FLEMMA_${provider.toUpperCase()}_BASE_URL`]: server.url,
        },
      },
      provider: used,
      tools: () => [],
      emit: (event) => events.push(event),
      retry: false,
    });
    const outcome = await send(new AbortController().signal);
    const expected = { ...vector, ...change };
    const message = outcome.kind === "failed" ? outcome.problem.message : "";
    const after = expected.document_after.replace("MESSAGE", message);
    assertDocument(new TextDecoder().decode(store.chat.bytes), vector, after);
    if (expected.error === null) {
      assert.ok(outcome.kind === "completed", JSON.stringify(outcome));
      assert.deepEqual(outcome.usage, vector.usage);
      const reported = outcome.warnings.filter((warning) => !warning.startsWith("The model "));
      assert.equal(reported.length, expected.warnings.length, reported.join("\n"));
      const model = findModel(provider, vector.model)!;
      const prices = pricesAt(model, DAY, promptTokens(outcome.usage!))!;
      const cost = costOf(outcome.usage!, prices, { outputIncludesThoughts: used.outputIncludesThoughts })!;
      for (const [part, dollars] of Object.entries(vector.cost ?? {})) {
        assert.ok(Math.abs(cost[part as keyof typeof cost] - dollars) < 1e-12, part);
      }
    } else {
      assert.ok(outcome.kind === "failed", JSON.stringify(outcome));
      if (expected.error?.message !== undefined) assert.equal(message, expected.error.message);
      const finished = events.find((event) => event.event === "request:finished");
      assert.ok(finished?.event === "request:finished" && finished.status === "errored");
      assert.equal(finished.error?.class, expected.error?.class);
      assert.deepEqual(finished.error?.details, vector.error?.details ?? []);
    }
    assert.equal(server.requests.length, 1);
  } finally {
    await server.close();
  }
}

for (const provider of ["anthropic", "openai", "vertex", "moonshot"]) {
  for (const { name: file } of Deno.readDirSync(new URL(`${provider}/`, VECTORS))) {
    const name = /^(.*)\.expect\.json$/.exec(file)?.[1];
    if (name === undefined) continue;
    const vector: RequestVector | StreamVector = JSON.parse(
      Deno.readTextFileSync(new URL(`${provider}/${file}`, VECTORS)),
    );
    const change = CHANGED[`${provider}/${name}`] ?? {};
    if (vector.kind === "request") {
      Deno.test(`${provider} request: ${name}`, () => checkRequest(provider, vector, change));
      continue;
    }
    for (const chunk of [1, 7, undefined]) {
      Deno.test(`${provider} stream over HTTP in chunks of ${chunk ?? "any size"}: ${name}`, () =>
        checkStream(provider, vector, change, chunk));
    }
  }
}
