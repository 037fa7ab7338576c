import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { dryRun } from "../../cycle/send/request.ts";
import { openFile } from "../../cycle/storage/file_store.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import type { CycleEvent, DocumentStore } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";
import { anthropic } from "../../providers/anthropic/provider.ts";
import { serve } from "../providers/loopback.ts";
import { withClock } from "../waiting.ts";
import { BEFORE, bytes, delta, END, frames, senderTo, type Sent, sent, SSE, stop } from "./sending.ts";
import { testInFolder as test } from "../folder.ts";

/** Nothing aborts it. */
const NEVER = new AbortController().signal;

function tool(json: string, id = "t1", name = "bash"): object[] {
  return [
    { type: "content_block_start", index: 1, content_block: { type: "tool_use", id, name, input: {} } },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: json } },
    { type: "content_block_stop", index: 1 },
  ];
}

function failureOf(run: Sent): { readonly code: string; readonly message: string; readonly next?: string } {
  assert.ok(run.outcome.kind === "failed", run.outcome.kind);
  return run.outcome.problem;
}

function withTimeouts(timeout: number, connect_timeout = 10): Settings {
  return { ...DEFAULT_SETTINGS, parameters: { ...DEFAULT_SETTINGS.parameters, timeout, connect_timeout } };
}

Deno.test("if a reply reuses ids of earlier calls, or uses an id twice, its calls are written with new ids", async () => {
  const before =
    "@You:\nhi\n\n@Assistant:\n\n**Tool Use:** `bash` (`call_0`)\n\n```json\n{}\n```\n\n@You:\n\n" +
    "**Tool Result:** `call_0`\n\n```\nout\n```\n";
  const reply = [
    ...tool("{}", "call_0"),
    ...tool("{}", "call_0"),
    ...tool("{}", "call_1"),
    stop("tool_use"),
    END,
  ];
  const { after } = await sent({ headers: SSE, body: frames(...reply) }, { before });
  const chat = parse(bytes(after));
  assert.deepEqual(chat.calls.map(({ id }) => id), ["call_0", "call_0_2", "call_0_3", "call_1"]);
});

Deno.test("if a connection is refused, the document stays unchanged and the message names the host", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const run = await sent({ body: "" }, {
    variables: { FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` },
  });
  assert.equal(run.after, BEFORE);
  assert.equal(failureOf(run).code, "provider-network");
  assert.match(
    failureOf(run).message,
    new RegExp(`^127\\.0\\.0\\.1:${port} could not be reached: .*refused`),
  );
});

Deno.test("for the statuses 401, 429 and 529 the document stays unchanged, and the message says what to do", async () => {
  const cases = [
    [401, "authentication_error", "invalid x-api-key", "provider-authentication", /ANTHROPIC_API_KEY/],
    [429, "rate_limit_error", "Slow down", "provider-rate-limit", /again/],
    [529, "overloaded_error", "Overloaded", "provider-rate-limit", /again/],
    [
      400,
      "invalid_request_error",
      "prompt is too long: 300000 tokens",
      "provider-context-overflow",
      /smaller document: flemma compact/,
    ],
  ] as const;
  for (const [status, type, message, code, next] of cases) {
    const body = JSON.stringify({ type: "error", error: { type, message } }, null, 2);
    const headers = { "content-type": "application/json", "retry-after": "9" };
    const run = await sent({ status, body, headers });
    assert.equal(run.after, BEFORE);
    const problem = failureOf(run);
    assert.equal(problem.message, `${type} — ${message}`);
    assert.equal(problem.code, code);
    assert.match(problem.next ?? "", next);
    const finished = run.events.at(-1);
    assert.ok(finished?.event === "request:finished");
    assert.deepEqual(finished.error?.details, code === "provider-rate-limit" ? ["retry-after: 9"] : []);
  }
});

Deno.test("an HTML page, an empty body and a JSON error of the wrong content type are reported as failures", async () => {
  const html = "<html>\n <body>\n  " + "Bad gateway ".repeat(60) + "</body></html>";
  for (const status of [200, 503]) {
    const run = await sent({ status, body: html, headers: { "content-type": "text/html" } });
    assert.equal(run.after, BEFORE);
    assert.match(failureOf(run).message, /Unexpected API response: <html> <body> Bad gateway .*\.\.\.$/);
  }
  for (const [status, headers] of [[200, SSE], [200, {}], [503, {}]] as const) {
    const run = await sent({ status, headers, body: "" });
    assert.equal(run.after, BEFORE);
    assert.equal(failureOf(run).code, status === 200 ? "provider-network" : "provider-other");
  }
  const error = JSON.stringify({ error: { type: "api_error", message: "down" } }, null, 2);
  const stray = await sent({ headers: SSE, body: error });
  assert.equal(failureOf(stray).message, "api_error — down");
});

Deno.test("flemma does not follow a redirect", async () => {
  const run = await sent({ status: 302, headers: { location: "http://elsewhere.example/" }, body: "" });
  assert.match(failureOf(run).message, /redirects to http:\/\/elsewhere\.example\/ \(HTTP 302\)/);
  assert.equal(run.after, BEFORE);
});

Deno.test("streams with CR LF, comments, missing spaces, and characters cut between bytes are read correctly", async () => {
  const events = [delta("äö😀 "), delta("\u2028ok"), stop("end_turn")];
  const body = ": hello\r\n\r\n" +
    events.map((event) => `event: x\r\ndata:${JSON.stringify(event)}\r\n\r\n`).join("") +
    "data: [DONE]\r\n\r\ndata: {broken\r\n\r\ndata:" + JSON.stringify(END);
  const run = await sent({ headers: SSE, body, chunk: 1 });
  assert.equal(run.outcome.kind, "completed");
  assert.equal(run.after, `${BEFORE}\n@Assistant:\näö😀 \u2028ok\n\n@You:\n\n`);
});

Deno.test("if a stream ends or breaks before its closing event, the reply is marked as incomplete and the run fails", async () => {
  for (const reset of [false, true]) {
    const run = await sent({ headers: SSE, body: frames(delta("Half a")), reset });
    const problem = failureOf(run);
    assert.equal(problem.code, "provider-network");
    assert.equal(
      run.after,
      `${BEFORE}\n@Assistant:\nHalf a\n\n<!-- flemma:aborted: ${problem.message} -->\n`,
    );
  }
});

Deno.test("if an error interrupts a stream, flemma keeps the text, closes its fence and marks the reply", async () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const run = await sent({ headers: SSE, body: frames(delta("```js\nlet"), error, delta("never")) });
  assert.equal(
    run.after,
    `${BEFORE}\n@Assistant:\n\`\`\`js\nlet\n\`\`\`\n\n<!-- flemma:aborted: overloaded_error — Overloaded -->\n`,
  );
});

Deno.test("a call whose input is cut off by the token limit is not written, and the calls before it do not run", async () => {
  const body = frames(
    ...tool('{"command":"ls"}', "whole"),
    ...tool('{"command":"rm -r', "half"),
    stop("max_tokens"),
    END,
  );
  const run = await sent({ headers: SSE, body });
  assert.match(failureOf(run).message, /token limit inside the input of a call to bash/);
  const chat = parse(bytes(run.after));
  assert.deepEqual(chat.calls.map(({ id }) => id), ["whole"]);
  assert.equal(chat.turns.at(-1)!.segments.at(-1)?.kind, "aborted");
});

Deno.test("an input that is not an object, and an id that no header can contain, are stream errors", async () => {
  const list = await sent({ headers: SSE, body: frames(...tool("[1]"), stop("tool_use"), END) });
  assert.match(failureOf(list).message, /not a JSON object/);
  assert.equal(list.after, BEFORE);
  const forged = await sent({ headers: SSE, body: frames(delta("x"), ...tool("{}", "a`)\n@You:"), END) });
  assert.equal(failureOf(forged).code, "provider-other");
  assert.deepEqual(parse(bytes(forged.after)).turns.map(({ role }) => role), ["You", "Assistant"]);
});

Deno.test("a completed reply without content leaves the document unchanged and causes one warning", async () => {
  const run = await sent({ headers: SSE, body: frames(delta("\n\n"), stop("end_turn"), END) });
  assert.ok(run.outcome.kind === "completed");
  assert.equal(run.outcome.warnings.length, 1);
  assert.equal(run.after, BEFORE);
});

Deno.test("if a server sends nothing until the timeout, the request fails with a message that names the server", async () => {
  const silent = await sent({ headers: SSE, body: "", hang: true }, { settings: withTimeouts(0.2) });
  assert.equal(failureOf(silent).code, "provider-timeout");
  assert.match(failureOf(silent).message, /0\.2 s/);
  assert.equal(silent.after, BEFORE);
  const begun = await sent({ headers: SSE, body: frames(delta("So far")), hang: true }, {
    settings: withTimeouts(0.3),
  });
  assert.match(begun.after, /So far\n\n<!-- flemma:aborted: 127/);
});

/** What answers with a stream that ends, as those of the network do, when the request is given up. */
function streaming(
  pull: (controller: ReadableStreamDefaultController<Uint8Array>) => Promise<void>,
): typeof fetch {
  return (_, init) => {
    const start = (controller: ReadableStreamDefaultController) =>
      init?.signal?.addEventListener("abort", () => controller.error(init.signal?.reason));
    const act = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      // What comes after the end nobody hears.
      await pull(controller).catch((thrown) => {
        if (init?.signal?.aborted !== true) throw thrown;
      });
    };
    return Promise.resolve(new Response(new ReadableStream({ start, pull: act }), { headers: SSE }));
  };
}

Deno.test("a reply may take longer than the timeout while data keeps arriving, and a timeout may have any length", async () => {
  await withClock(async (clock) => {
    let pings = 0;
    const slow = streaming(async (controller) => {
      await clock.pass(200);
      controller.enqueue(bytes(frames({ type: "ping" })));
      if (++pings < 8) return;
      controller.enqueue(bytes(frames(delta("At last."), stop("end_turn"), END)));
      controller.close();
    });
    const late = await sent({ body: "" }, { settings: withTimeouts(0.3), fetch: slow });
    assert.equal(late.outcome.kind, "completed");
  });
  const huge = await sent({ headers: SSE, body: frames(delta("x"), stop("end_turn"), END) }, {
    settings: withTimeouts(9_999_999, 9_999_999),
  });
  assert.equal(huge.outcome.kind, "completed");
});

Deno.test("data that arrived in time is used even if this process was suspended until after the timeout", async () => {
  await withClock(async (clock) => {
    const stopped = streaming(async (controller) => {
      // As after SIGSTOP and SIGCONT: the timer is due, and then it is seen what is there.
      await clock.pass(300);
      controller.enqueue(bytes(frames(delta("There."), stop("end_turn"), END)));
      controller.close();
    });
    const run = await sent({ body: "" }, { settings: withTimeouts(0.3), fetch: stopped });
    assert.equal(run.outcome.kind, "completed");
  });
  await withClock(async (clock) => {
    // Nothing comes afterwards either.
    const silent = streaming(() => clock.pass(320));
    const run = await sent({ body: "" }, { settings: withTimeouts(0.3), fetch: silent });
    assert.equal(failureOf(run).code, "provider-timeout");
  });
});

Deno.test("blocks and parts of unknown type, and lines that are not JSON, are reported once per kind", async () => {
  const unknown = (index: number, type: string) => [
    { type: "content_block_start", index, content_block: { type } },
    { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: "{}" } },
    { type: "content_block_stop", index },
  ];
  const mystery = {
    type: "content_block_delta",
    index: 0,
    delta: { type: "mystery_delta", mystery: {} },
  };
  const body = frames(
    ...unknown(3, "code_execution_tool_result"),
    ...unknown(4, "code_execution_tool_result"),
    delta("A"),
    mystery,
    mystery,
  ) + 'data: {"type": "content_bl\n\ndata: oops\n\ndata: [DONE]\n\ndata: null\n\n' +
    frames(delta("B"), stop("end_turn"), END);
  const run = await sent({ headers: SSE, body });
  assert.ok(run.outcome.kind === "completed");
  assert.deepEqual(run.outcome.warnings.map((warning) => warning.replace(/\(.*\)/, "(…)")), [
    'The reply contains a block of the unknown type "code_execution_tool_result", which is left out.',
    'The reply contains a part of the unknown type "mystery_delta", which is left out.',
    "2 lines of the stream were not valid JSON (…).",
  ]);
  assert.equal(run.outcome.reply, "doubtful");
  assert.match(run.after, /\nAB\n/);
});

Deno.test("a call that may have lost data to an invalid line is not written, and damaged thinking loses its signature", async () => {
  const [start, input, end] = tool('{"command":"rm -rf build"}') as [object, object, object];
  const broken = "data: {broken\n\n";
  const cases = [
    frames(start) + broken + frames(input, end),
    frames(start, input) + broken + frames(end),
    broken + frames(input, end),
  ];
  for (const body of cases) {
    const run = await sent({ headers: SSE, body: frames(delta("x")) + body + frames(stop("tool_use"), END) });
    assert.match(failureOf(run).message, /was incomplete/);
    assert.doesNotMatch(run.after, /Tool Use/);
  }
  const whole = await sent({ headers: SSE, body: broken + frames(start, input, end, stop("tool_use"), END) });
  assert.match(whole.after, /Tool Use/);
  const thought = [
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "thinking", thinking: "", signature: "" },
    },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } },
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "sig" } },
    { type: "content_block_stop", index: 0 },
  ];
  const hurt = frames(...thought.slice(0, 2)) + broken + frames(...thought.slice(2), stop("end_turn"), END);
  const { after } = await sent({ headers: SSE, body: hurt });
  assert.match(after, /<thinking>\nHm\.\n<\/thinking>/);
});

Deno.test("an input of eight million characters is written and sent like a short input", async () => {
  const input = JSON.stringify({ content: "\\n".repeat(4_000_000) });
  const run = await sent({ headers: SSE, body: frames(...tool(input), stop("tool_use"), END) });
  assert.equal(run.outcome.kind, "completed");
  assert.equal(parse(bytes(run.after)).calls[0]?.inputText, input);
});

Deno.test("if a reply is cancelled before any content, the document stays unchanged; if content has arrived, the reply is marked", async () => {
  const early = new AbortController();
  const nothing = await sent({ headers: SSE, body: frames({ type: "ping" }), hang: true }, {
    signal: early.signal,
    onEvent: (event) => event.event === "request:sending" && setTimeout(() => early.abort()),
  });
  assert.equal(nothing.outcome.kind, "cancelled");
  assert.equal(nothing.after, BEFORE);

  const late = new AbortController();
  const some = await sent({ headers: SSE, body: frames(delta("One, two,")), hang: true }, {
    signal: late.signal,
    onEvent: (event) => event.event === "text" && late.abort(),
  });
  assert.equal(some.outcome.kind, "cancelled");
  assert.equal(
    some.after,
    `${BEFORE}\n@Assistant:\nOne, two,\n\n<!-- flemma:aborted: Response interrupted by the user. -->\n`,
  );
  assert.ok(some.events.some((event) => event.event === "request:finished" && event.status === "cancelled"));

  const before = await sent({ body: "" }, { signal: AbortSignal.abort() });
  assert.equal(before.outcome.kind, "cancelled");
  assert.equal(before.requests.length, 0);
});

Deno.test("without a key nothing is sent, and the message names the environment variable and the key resolvers", async () => {
  const run = await sent({ body: "" }, { variables: { ANTHROPIC_API_KEY: "" } });
  assert.equal(failureOf(run).code, "credential-missing");
  assert.match(failureOf(run).message, /environment: ANTHROPIC_API_KEY is not set/);
  assert.equal(run.requests.length, 0);
  assert.equal(run.after, BEFORE);
});

Deno.test("a key that no HTTP header can contain is refused, and the message does not show it", async () => {
  const run = await sent({ body: "" }, { variables: { ANTHROPIC_API_KEY: "se\u00e9cret key" } });
  assert.equal(failureOf(run).code, "credential-invalid");
  assert.doesNotMatch(failureOf(run).message, /cret/);
  assert.equal(run.requests.length, 0);
});

Deno.test("a run that sends two requests shows each warning once", async () => {
  const server = serve(() => ({ headers: SSE, body: frames(delta("x"), stop("end_turn"), END) }));
  const events: CycleEvent[] = [];
  const store = new MemoryStore(bytes("@You:\n@./gone.md\n"), null);
  const again = senderTo(server.url, store, {
    settings: { ...DEFAULT_SETTINGS, model: "claude-next" },
    emit: (event) => events.push(event),
  });
  const warnings: number[] = [];
  for (let count = 0; count < 2; count++) {
    const outcome = await again(new AbortController().signal);
    assert.ok(outcome.kind === "completed");
    warnings.push(outcome.warnings.length);
    await store.commit([{ from: store.chat.bytes.length, to: store.chat.bytes.length, insert: "more\n" }]);
  }
  assert.deepEqual(warnings, [1, 0]);
  assert.equal(events.filter(({ event }) => event === "diagnostic").length, 1);
  await server.close();
});

Deno.test("an invalid base URL is refused, and the message names the setting that contains it", async () => {
  const run = await sent({ body: "" }, { variables: { FLEMMA_ANTHROPIC_BASE_URL: "127.0.0.1" } });
  assert.match(failureOf(run).message, /"127\.0\.0\.1" from the variable FLEMMA_ANTHROPIC_BASE_URL/);
  const settings = { ...DEFAULT_SETTINGS, providers: { anthropic: { base_url: "ftp://x" } } };
  const set = await sent({ body: "" }, { settings });
  assert.match(failureOf(set).message, /the setting providers\.anthropic\.base_url/);
});

Deno.test("a diagnostic of severity error prevents the request", async () => {
  for (
    const [before, code] of [
      ["```lua\nx = 1\n```\n@You:\nhi\n", "frontmatter_unsupported"],
      ["@You:\n{{ some words }}\n", "template_syntax"],
      ["@System:\nonly\n", "no_messages"],
      ["", "no_messages"],
      ["@You:\nhi\n\n@Assistant:\nhello\n\n@You:\n\n", "nothing_to_send"],
    ] as const
  ) {
    const run = await sent({ body: "" }, { before });
    assert.ok(run.outcome.kind === "blocked", code);
    const errors = run.outcome.diagnostics.filter(({ severity }) => severity === "error");
    assert.deepEqual(errors.map((diagnostic) => diagnostic.code), [code], "one cause is reported once");
    assert.equal(run.requests.length, 0);
    assert.equal(run.after, before);
  }
});

Deno.test("each text event contains the document line where its text starts", async () => {
  const thinking = [
    { type: "content_block_start", index: 5, content_block: { type: "thinking", thinking: "" } },
    { type: "content_block_delta", index: 5, delta: { type: "thinking_delta", thinking: "hm\nhm" } },
    { type: "content_block_stop", index: 5 },
  ];
  const texts = ["w1 ", "w2", "\n", "w3\nw4 ", "w5\n\n\nw6", "\n@Assi", "stant:\nw7\n"];
  const behind = ["\n\n", "w8 ", "w9\nw10"];
  const replies = [
    [...texts.map(delta), stop("end_turn"), END],
    [
      ...thinking,
      delta("\n"),
      ...texts.map(delta),
      ...tool("{}"),
      ...behind.map(delta),
      stop("tool_use"),
      END,
    ],
  ];
  for (const before of [BEFORE, "@You:\nhi", "@You:\r\nhi\r\n"]) {
    for (const reply of replies) {
      for (const stream of [true, false]) {
        const { events, after } = await sent({ headers: SSE, body: frames(...reply) }, { before, stream });
        const lines = after.split("\n");
        for (const event of events) {
          const word = event.event === "text" ? /w\d+/.exec(event.text)?.[0] : undefined;
          if (event.event !== "text" || word === undefined) continue;
          const at = lines.findIndex((line) => new RegExp(`\\b${word}\\b`).test(line)) + 1;
          const lead = event.text.slice(0, event.text.indexOf(word)).split("\n").length - 1;
          assert.equal(event.line! + lead, at, `${word} of ${JSON.stringify(after)}`);
        }
      }
    }
  }
});

Deno.test("if another program inserts lines above, later text events contain the new line numbers", async () => {
  const folder = await Deno.makeTempDir({ prefix: "flemma-send-" });
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(bytes(frames(delta("first\nsecond "))));
      await gates[0]!.promise;
      controller.enqueue(bytes(frames(delta("third\n"))));
      await gates[1]!.promise;
      controller.enqueue(bytes(frames(delta("fourth"), stop("end_turn"), END)));
      controller.close();
    },
  });
  try {
    const path = `${folder}/a.chat`;
    await Deno.writeTextFile(path, "@System:\nBe brief.\n\n@You:\nhi\n");
    const environment = { cwd: folder, home: folder, variables: { XDG_STATE_HOME: `${folder}/state` } };
    const opened = await openFile("a.chat", { environment, wait: 0, notify: () => {} });
    assert.ok(opened.ok);
    const store = opened.value;
    const lines: [string, number | undefined][] = [];
    const sending = senderTo("http://127.0.0.1", store, {
      emit: (event) => void (event.event === "text" && lines.push([event.text, event.line])),
      fetch: () => Promise.resolve(new Response(body, { headers: SSE })),
      commitInterval: 0,
    })(new AbortController().signal);
    const disk = () => Deno.readTextFileSync(path);
    while (!disk().includes("second")) await new Promise((done) => setTimeout(done, 1));
    Deno.writeTextFileSync(path, disk().replace("Be brief.", "Be brief.\nAnd kind.\nAnd quick."));
    // The store learns of it with the next piece, and what comes after tells its line by that.
    gates[0]!.resolve();
    while (!disk().includes("third")) await new Promise((done) => setTimeout(done, 1));
    await store.commit([]);
    gates[1]!.resolve();
    assert.equal((await sending).kind, "completed");
    const at = (word: string) => disk().split("\n").findIndex((line) => line.includes(word)) + 1;
    assert.deepEqual(lines[0], ["first\nsecond ", at("first") - 2]);
    assert.deepEqual(lines.slice(1), [["third\n", at("third") - 2], ["fourth", at("fourth")]]);
    await store.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the dry run prints the exact bytes of the request body and no secret", async () => {
  const before = "@System:\nBe brief.\n\n@You:\nhi\n";
  const run = await sent({ headers: SSE, body: frames(delta("x"), END) }, { before });
  const prepared = await dryRun({
    chat: parse(bytes(before)),
    document: null,
    settings: DEFAULT_SETTINGS,
    environment: { cwd: "/", home: "/", variables: {} },
    provider: anthropic,
    tools: [],
  });
  assert.ok(prepared.kind === "ready");
  assert.equal(prepared.request.body, run.requests[0]!.body);
  assert.equal(prepared.request.headers["x-api-key"], "[hidden]");
  assert.equal(run.requests[0]!.headers.get("x-api-key"), "secret-key");
  assert.match(run.requests[0]!.headers.get("user-agent") ?? "", /^flemma\//);
});

Deno.test("a request that is too large for a string is reported with advice; any other error is passed on unchanged", async () => {
  const asked = (thrown: () => never) =>
    dryRun({
      chat: parse(bytes("@You:\nhi\n")),
      document: null,
      settings: DEFAULT_SETTINGS,
      environment: { cwd: "/", home: "/", variables: {} },
      provider: { ...anthropic, buildRequest: thrown },
      tools: [],
    });
  // What the runtime itself throws for a text that is too long.
  const prepared = await asked(() => {
    throw new Error("x".repeat(2 ** 30));
  });
  assert.ok(prepared.kind === "failed");
  assert.equal(prepared.problem.code, "request-too-large");
  assert.match(prepared.problem.message, /larger than the maximum of 512 MB/);
  assert.match(prepared.problem.next ?? "", /flemma compact/);
  const fault = new RangeError("Invalid array length");
  await assert.rejects(
    asked(() => {
      throw fault;
    }),
    fault,
  );
  const other = new TypeError("Invalid string length");
  await assert.rejects(
    asked(() => {
      throw other;
    }),
    other,
  );
});

Deno.test("the warnings of a failed request are notices; those of a completed request are part of its outcome", async () => {
  const settings = { ...DEFAULT_SETTINGS, model: "claude-sonet-4-6" };
  const failed = await sent({ status: 500, body: "{}" }, { settings });
  const notices = failed.events.filter((event) => event.event === "notice");
  assert.equal(notices.length, 1);
  const done = await sent({ headers: SSE, body: frames(delta("x"), stop("end_turn"), END) }, { settings });
  assert.ok(done.outcome.kind === "completed");
  assert.match(
    done.outcome.warnings[0] ?? "",
    /claude-sonet-4-6 .* used as given\. Did you mean claude-sonnet-4-6\?/,
  );
  assert.equal(done.events.filter((event) => event.event === "notice").length, 0);
  assert.equal(JSON.parse(done.requests[0]!.body).model, "claude-sonet-4-6");
});

/** Counts what is written and can play another writer. */
function watched(
  inner: MemoryStore,
  afterCommit: (count: number) => void,
): DocumentStore & { commits: number } {
  return {
    path: inner.path,
    commits: 0,
    get chat() {
      return inner.chat;
    },
    async commit(edits) {
      const problem = await inner.commit(edits);
      afterCommit(++this.commits);
      return problem;
    },
    get behind() {
      return inner.behind;
    },
    get growsFrom() {
      return inner.growsFrom;
    },
    async extend(text, growth) {
      const problem = await inner.extend(text, growth);
      afterCommit(++this.commits);
      return problem;
    },
  };
}

test("a streamed reply is in the file before it is complete; with stream off, the reply is written at once", async (folder) => {
  const path = `${folder}/talk.chat`;
  await Deno.writeTextFile(path, BEFORE);
  const first = frames(delta("First half, "));
  const resume = Promise.withResolvers<void>();
  const answer = {
    headers: SSE,
    body: first + frames(delta("second half."), stop("end_turn"), END),
    chunk: bytes(first).length,
    pause: { at: bytes(first).length, until: resume.promise },
  };
  const server = serve(() => answer);
  const environment = { cwd: folder, home: folder, variables: { XDG_STATE_HOME: `${folder}/state` } };
  const opened = await openFile(path, { environment, wait: 0 });
  assert.ok(opened.ok);
  const watcher = Deno.watchFs(folder);
  const sending = senderTo(server.url, opened.value)(NEVER);
  for await (const _ of watcher) {
    if ((await Deno.readTextFile(path)).includes("First half,")) break;
  }
  assert.equal(await Deno.readTextFile(path), `${BEFORE}\n@Assistant:\nFirst half, \n`);
  resume.resolve();
  assert.equal((await sending).kind, "completed");
  const after = `${BEFORE}\n@Assistant:\nFirst half, second half.\n\n@You:\n\n`;
  assert.equal(await Deno.readTextFile(path), after);
  await opened.value.close();

  const store = watched(new MemoryStore(bytes(BEFORE), null), () => {});
  await senderTo(server.url, store, { stream: false })(NEVER);
  assert.equal(store.commits, 1);
  assert.equal(new TextDecoder().decode(store.chat.bytes), after);
  await server.close();
});

for (
  const [what, before, edit, after] of [
    [
      "an edit of the question right above it is kept, and the reply streams to its end",
      "@You:\nHi\n",
      () => ({ from: 6, to: 8, insert: "Hello there" }),
      "@You:\nHello there\n\n@Assistant:\nFirst.\nSecond. Third.\n\n@You:\n\n",
    ],
    [
      "a message typed below the reply stays below, and flemma inserts no empty prompt",
      BEFORE,
      (length: number) => ({ from: length, to: length, insert: "\n@You:\nmine\n" }),
      `${BEFORE}\n@Assistant:\nFirst.\nSecond. Third.\n\n\n@You:\nmine\n`,
    ],
  ] as const
) {
  Deno.test(`while a reply streams in, ${what}`, async () => {
    const first = frames(delta("First.\nSecond."));
    const resume = Promise.withResolvers<void>();
    const server = serve(() => ({
      headers: SSE,
      body: first + frames(delta(" Third."), END),
      chunk: bytes(first).length,
      pause: { at: bytes(first).length, until: resume.promise },
    }));
    const inner = new MemoryStore(bytes(before), null);
    const store = watched(inner, (count) => {
      if (count !== 1) return;
      inner.commit([edit(inner.chat.byteLength)]);
      resume.resolve();
    });
    assert.equal((await senderTo(server.url, store, { commitInterval: 0 })(NEVER)).kind, "completed");
    assert.equal(new TextDecoder().decode(inner.chat.bytes), after);
    await server.close();
  });
}
