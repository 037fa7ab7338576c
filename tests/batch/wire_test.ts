// What the providers say about batches: states, results, and the requests that lead to them.

import assert from "node:assert/strict";
import type { BatchHead, BatchKind } from "../../batch/types.ts";
import { BATCH_APIS, batchKindOf } from "../../batch/wire/apis.ts";
import { BatchClient } from "../../batch/wire/client.ts";
import { processEnvironment } from "../../base/environment.ts";
import { anthropic } from "../../providers/anthropic/provider.ts";

const URLS: Readonly<Record<BatchKind, string>> = {
  anthropic: "https://api.test/v1/messages",
  openai: "https://api.test/v1/responses",
  gemini: "https://api.test/v1beta/models/g:streamGenerateContent?alt=sse",
};

function headOf(kind: BatchKind, url = URLS[kind]): BatchHead {
  const time = "2026-11-30T10:00:00.000Z";
  return { id: "b1", provider: kind, kind, model: "m", url, time, count: 2 };
}

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly key: string | null;
}

/** A client whose requests are answered by `answer`, in order. */
function clientWith(answers: readonly (Response | Error)[], url: string) {
  const asked: Asked[] = [];
  const waits: number[] = [];
  let next = 0;
  const client = new BatchClient({
    environment: processEnvironment(),
    provider: anthropic,
    url,
    headers: { "x-api-key": "k" },
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      asked.push({ method: init?.method ?? "GET", url: String(input), key: headers.get("x-api-key") });
      const answer = answers[next++] ?? new Error("no answer is left");
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    pause: (milliseconds) => {
      waits.push(milliseconds);
      return Promise.resolve();
    },
  });
  return { client, asked, waits };
}

const STATES: readonly (readonly [BatchKind, object, object])[] = [
  ["anthropic", { processing_status: "in_progress" }, { kind: "working", done: null }],
  ["anthropic", { processing_status: "canceling" }, { kind: "working", done: null }],
  ["anthropic", { processing_status: "ended", results_url: "https://other.test/x" }, {
    kind: "ended",
    results: [{ kind: "lines", url: "https://api.test/v1/messages/batches/r1/results" }],
    isExpired: false,
  }],
  ["anthropic", { processing_status: "ended", archived_at: "2026-12-30T00:00:00Z" }, {
    kind: "failed",
    message: "the provider keeps results for 29 days and has deleted them",
  }],
  ["openai", { status: "validating" }, { kind: "working", done: 0 }],
  ["openai", { status: "in_progress", request_counts: { completed: 3, failed: 1, total: 9 } }, {
    kind: "working",
    done: 4,
  }],
  ["openai", { status: "finalizing" }, { kind: "working", done: 0 }],
  ["openai", { status: "cancelling" }, { kind: "working", done: 0 }],
  ["openai", { status: "failed", errors: { data: [{ line: 7, message: "Bad line" }] } }, {
    kind: "failed",
    message: "Bad line",
    line: 7,
  }],
  ["openai", { status: "completed", output_file_id: "o1", error_file_id: null }, {
    kind: "ended",
    results: [{ kind: "lines", url: "https://api.test/v1/files/o1/content" }],
    isExpired: false,
  }],
  ["openai", { status: "expired", output_file_id: "o1", error_file_id: "e1" }, {
    kind: "ended",
    results: ["o1", "e1"].map((id) => ({ kind: "lines", url: `https://api.test/v1/files/${id}/content` })),
    isExpired: true,
  }],
  ["gemini", { metadata: { state: "JOB_STATE_PENDING" } }, { kind: "working", done: null }],
  ["gemini", { metadata: { state: "BATCH_STATE_FAILED" }, error: { message: "No quota" } }, {
    kind: "failed",
    message: "No quota",
  }],
  ["gemini", {
    metadata: { state: "BATCH_STATE_SUCCEEDED" },
    response: { inlinedResponses: { inlinedResponses: [{ a: 1 }] } },
  }, { kind: "ended", results: [{ kind: "rows", rows: [{ a: 1 }] }], isExpired: false }],
  ["gemini", { metadata: { state: "BATCH_STATE_EXPIRED", output: { inlinedResponses: [{ a: 1 }] } } }, {
    kind: "ended",
    results: [{ kind: "rows", rows: [{ a: 1 }] }],
    isExpired: true,
  }],
  ["gemini", { metadata: { state: "JOB_STATE_SUCCEEDED" }, response: { responsesFile: "files/f1" } }, {
    kind: "ended",
    results: [
      { kind: "rows", rows: [] },
      { kind: "lines", url: "https://api.test/download/v1beta/files/f1:download?alt=media" },
    ],
    isExpired: false,
  }],
];

for (const [kind, body, expected] of STATES) {
  Deno.test(`${kind}: the state of a batch is read from ${JSON.stringify(body)}`, async () => {
    const { client } = clientWith([Response.json(body)], URLS[kind]);
    const state = await BATCH_APIS[kind].state(client, headOf(kind), "r1");
    assert.deepEqual(state, { ok: true, value: expected });
  });
}

const RESULTS: readonly (readonly [BatchKind, unknown, unknown])[] = [
  ["anthropic", { custom_id: "i", result: { type: "succeeded", message: { a: 1 } } }, {
    item: "i",
    result: { kind: "message", body: { a: 1 } },
  }],
  ["anthropic", { custom_id: "i", result: { type: "canceled" } }, {
    item: "i",
    result: { kind: "canceled" },
  }],
  ["anthropic", {
    custom_id: "i",
    result: { type: "errored", error: { type: "error", error: { type: "overloaded_error", message: "m" } } },
  }, {
    item: "i",
    result: {
      kind: "error",
      status: 500,
      body: { type: "error", error: { type: "overloaded_error", message: "m" } },
    },
  }],
  ["anthropic", { result: { type: "succeeded" } }, null],
  ["openai", { custom_id: "i", response: null, error: { code: "batch_expired" } }, {
    item: "i",
    result: { kind: "expired" },
  }],
  ["openai", { custom_id: "i", response: null, error: { code: "batch_cancelled" } }, {
    item: "i",
    result: { kind: "canceled" },
  }],
  ["openai", { custom_id: "i", response: { status_code: 200, body: { a: 1 } }, error: null }, {
    item: "i",
    result: { kind: "message", body: { a: 1 } },
  }],
  ["openai", { custom_id: "i", response: { status_code: 400, body: { error: {} } }, error: null }, {
    item: "i",
    result: { kind: "error", status: 400, body: { error: {} } },
  }],
  ["gemini", { key: "i", response: { a: 1 } }, { item: "i", result: { kind: "message", body: { a: 1 } } }],
  ["gemini", { metadata: { key: "i" }, error: { code: 1 } }, { item: "i", result: { kind: "canceled" } }],
  ["gemini", { metadata: { key: "i" }, error: { code: 8, message: "m" } }, {
    item: "i",
    result: { kind: "error", status: 500, body: { error: { code: 8, message: "m" } } },
  }],
  ["gemini", "words", null],
];

for (const [kind, row, expected] of RESULTS) {
  Deno.test(`${kind}: a result is read from ${JSON.stringify(row)}`, () => {
    assert.deepEqual(BATCH_APIS[kind].result(row), expected);
  });
}

Deno.test("the key never goes to another origin", async () => {
  const { client, asked } = clientWith([], URLS.anthropic);
  const answer = await client.get("https://other.test/results");
  assert.ok(!answer.ok);
  assert.match(answer.problem.message, /names another server \(https:\/\/other\.test\)/);
  assert.deepEqual(asked, []);
});

Deno.test("a look is repeated if the provider cannot answer, and a refusal is not", async () => {
  const failing = clientWith([
    new Response("", { status: 529 }),
    new Error("connection reset"),
    Response.json({ processing_status: "in_progress" }),
  ], URLS.anthropic);
  assert.ok((await failing.client.get(`${URLS.anthropic}/batches/r1`)).ok);
  assert.deepEqual([failing.asked.length, failing.waits], [3, [2000, 4000]]);
  const refused = clientWith([new Response("", { status: 404 })], URLS.anthropic);
  assert.ok(!(await refused.client.get(`${URLS.anthropic}/batches/r1`)).ok);
  assert.deepEqual([refused.asked.length, refused.waits], [1, []]);
});

for (
  const [name, answer, isUnclear] of [
    ["a refusal", new Response("{}", { status: 400 }), false],
    ["a full queue", new Response("{}", { status: 429 }), false],
    ["a fault of the server", new Response("{}", { status: 500 }), true],
    ["a cut connection", new Error("connection reset"), true],
    ["an answer that is not JSON", new Response("<html>"), true],
    ["an answer without an id", Response.json({}), true],
  ] as const
) {
  Deno.test(`the creation of a batch is made once, and after ${name} it is ${isUnclear ? "" : "not "}unclear`, async () => {
    const { client, asked } = clientWith([answer], URLS.anthropic);
    const made = await BATCH_APIS.anthropic.create(client, headOf("anthropic"), ["{}"]);
    assert.ok(!made.ok);
    assert.equal(made.problem.isUnclear, isUnclear);
    assert.deepEqual(asked.map(({ method }) => method), ["POST"]);
  });
}

Deno.test("a batch at Anthropic is found by the ids in its results, and only after it has ended", async () => {
  const batch = (id: string, more: object) => ({
    id,
    processing_status: "ended",
    created_at: "2026-11-30T10:00:05Z",
    request_counts: { succeeded: 2 },
    ...more,
  });
  const find = async (batches: readonly object[], results: readonly string[]) => {
    const answers = [Response.json({ data: batches }), ...results.map((text) => new Response(text))];
    const { client } = clientWith(answers, URLS.anthropic);
    const found = await BATCH_APIS.anthropic.find(client, headOf("anthropic"), {
      known: new Set(["known"]),
      items: new Set(["i1", "i2"]),
    });
    return found.ok ? found.value : found.problem.message;
  };
  const ours = '{"custom_id":"i1","result":{}}\n';
  assert.equal(await find([batch("a", {})], [ours]), "a");
  assert.equal(await find([batch("a", {}), batch("b", {})], ['{"custom_id":"x"}\n', ours]), "b");
  assert.equal(await find([batch("a", { processing_status: "in_progress" })], []), "undecided");
  for (
    const other of [
      batch("known", {}),
      batch("a", { request_counts: { succeeded: 3 } }),
      batch("a", { created_at: "2026-11-30T09:00:00Z" }),
    ]
  ) assert.equal(await find([other], [ours]), null);
});

const OURS = { known: new Set<string>(), items: new Set(["i1", "i2"]) };

/** A page of each API's list, with a batch of another program, and one with ours. */
const PAGES: Readonly<Record<BatchKind, readonly [object, object, string]>> = {
  anthropic: [
    { data: [{ id: "other", processing_status: "ended", request_counts: { succeeded: 7 } }], has_more: true },
    {
      data: [{
        id: "ours",
        processing_status: "ended",
        created_at: "2026-11-30T10:00:05Z",
        request_counts: { succeeded: 2 },
      }],
      has_more: false,
    },
    "after_id=other",
  ],
  openai: [
    { data: [{ id: "other", metadata: { flemma: "b2" } }], has_more: true },
    { data: [{ id: "ours", metadata: { flemma: "b1" } }], has_more: false },
    "after=other",
  ],
  gemini: [
    { operations: [{ name: "batches/other", metadata: { displayName: "x" } }], nextPageToken: "p2" },
    { operations: [{ name: "ours", metadata: { displayName: "flemma-b1" } }] },
    "pageToken=p2",
  ],
};

for (const [kind, [first, second, next]] of Object.entries(PAGES) as [BatchKind, typeof PAGES[BatchKind]][]) {
  Deno.test(`${kind}: a batch is also found on a later page of the list`, async () => {
    const results = new Response('{"custom_id":"i1","result":{}}\n');
    const { client, asked } = clientWith([Response.json(first), Response.json(second), results], URLS[kind]);
    assert.deepEqual(await BATCH_APIS[kind].find(client, headOf(kind), OURS), { ok: true, value: "ours" });
    assert.ok(asked[1]?.url.includes(next), asked[1]?.url);
  });

  Deno.test(`${kind}: a list that is not read to its end does not prove that there is no such batch`, async () => {
    let page = 0;
    const pages = Array.from({ length: 30 }, () => {
      const text = JSON.stringify(first).replace('"other"', `"other${page}"`).replace("p2", `p${page}`);
      page++;
      return Response.json(JSON.parse(text));
    });
    const { client, asked } = clientWith(pages, URLS[kind]);
    const found = await BATCH_APIS[kind].find(client, headOf(kind), OURS);
    assert.deepEqual(found, { ok: true, value: "undecided" });
    assert.equal(asked.length, 20);
  });
}

Deno.test("a vendor's batch without a mark is found by the ids in its results, and only after it has ended", async () => {
  const batch = (id: string, more: object) => ({
    id,
    status: "completed",
    created_at: Date.parse("2026-11-30T10:00:05Z") / 1000,
    request_counts: { total: 2 },
    output_file_id: `out-${id}`,
    metadata: null,
    ...more,
  });
  const find = async (batches: readonly object[], results: readonly (string | null)[]) => {
    const answers = [
      Response.json({ data: batches }),
      ...results.map((text) => text === null ? new Response("", { status: 404 }) : new Response(text)),
    ];
    const { client } = clientWith(answers, URLS.openai);
    const found = await BATCH_APIS.openai.find(client, headOf("openai"), {
      ...OURS,
      known: new Set(["known"]),
    });
    return found.ok ? found.value : found.problem.message;
  };
  const ours = '{"custom_id":"i2","response":{}}\n';
  assert.equal(await find([batch("a", {})], [ours]), "a");
  assert.equal(await find([batch("a", {}), batch("b", {})], [null, ours]), "b");
  assert.equal(await find([batch("a", { error_file_id: "e" })], ["", ours]), "a");
  assert.equal(await find([batch("a", { status: "in_progress" })], []), "undecided");
  for (
    const other of [
      batch("known", {}),
      batch("a", { request_counts: { total: 3 } }),
      batch("a", { created_at: 0 }),
      batch("a", { metadata: { flemma: "b2" } }),
    ]
  ) assert.equal(await find([other], [ours]), null);
  assert.match(String(await find([batch("a", {})], [])), /no answer is left/);
});

Deno.test("only known providers and entries of the settings take batches", () => {
  const named = { acme: { kind: "openai_chat" as const } };
  const kindOf = (provider: string, kind: string, providers = {}) =>
    batchKindOf({ provider, kind }, { providers });
  assert.equal(kindOf("anthropic", "anthropic"), "anthropic");
  assert.equal(kindOf("openai", "openai"), "openai");
  assert.equal(kindOf("gemini", "gemini"), "gemini");
  assert.equal(kindOf("vertex", "vertex"), null);
  assert.equal(kindOf("groq", "openai_chat"), null);
  assert.equal(kindOf("acme", "openai_chat", named), "openai");
});

Deno.test("the page about providers names the limits of a batch", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/reference/providers.md", import.meta.url));
  for (const [kind, { limits: { requests, bytes } }] of Object.entries(BATCH_APIS)) {
    const row = `${requests.toLocaleString("en-US")} requests, ${bytes / 1e6} MB |`;
    assert.ok(page.split("\n").some((line) => line.startsWith(`| \`${kind}\``) && line.endsWith(row)), row);
  }
});
