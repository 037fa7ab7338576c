import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { endpointUrl, resolveBaseUrl } from "../../providers/http/endpoint.ts";
import { isReachable } from "../../providers/http/network.ts";
import { isPing } from "../../providers/http/ping.ts";
import { post } from "../../providers/http/post.ts";
import { serve } from "./loopback.ts";
import { withClock } from "../waiting.ts";

/** Posts to a port that nobody listens at, without limits of time unless some are given. */
function posted(options: Partial<Parameters<typeof post>[0]>): ReturnType<typeof post> {
  return post({
    request: { method: "POST", url: "http://127.0.0.1:9/", headers: {}, body: "{}" },
    timeout: 0,
    pingTimeout: 0,
    connectTimeout: 0,
    signal: new AbortController().signal,
    onEvent: () => "more",
    onUnreadable: () => {},
    ...options,
  });
}

Deno.test("a base URL with a slash, with the version or with the whole path gives the same address and keeps its query", () => {
  const rows = [
    ["https://api.anthropic.com", "https://api.anthropic.com/v1/messages"],
    ["https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"],
    ["https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"],
    ["https://api.anthropic.com/v1//", "https://api.anthropic.com/v1/messages"],
    ["https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1/messages"],
    ["https://gate.example/anthropic", "https://gate.example/anthropic/v1/messages"],
    ["https://gate.example/v1beta", "https://gate.example/v1beta/v1/messages"],
    ["https://gate.example/a/v1/?key=a%20b&x=1", "https://gate.example/a/v1/messages?key=a%20b&x=1"],
    ["http://[::1]:8080", "http://[::1]:8080/v1/messages"],
  ] as const;
  for (const [base, expected] of rows) assert.equal(endpointUrl(base, "/v1/messages"), expected);
});

Deno.test("spaces around a base URL are ignored, a blank URL means none, and a URL with a fragment is refused", () => {
  const provider = { name: "anthropic", defaultBaseUrl: "https://api.anthropic.com" };
  const resolve = (base_url: string | undefined, variable?: string) =>
    resolveBaseUrl(provider, { ...DEFAULT_SETTINGS, providers: { anthropic: { base_url } } }, {
      cwd: "/",
      home: "/",
      variables: variable === undefined ? {} : { FLEMMA_ANTHROPIC_BASE_URL: variable },
    });
  const rows = [
    [" https://a.example \n", undefined, "https://a.example"],
    ["  ", "https://b.example\t", "https://b.example"],
    [undefined, "  ", "https://api.anthropic.com"],
  ] as const;
  for (const [setting, variable, expected] of rows) {
    assert.deepEqual(resolve(setting, variable), { ok: true, value: expected });
  }
  for (const wrong of ["https://a.example/#x", "a.example", "ftp://a.example", "file:///etc/passwd"]) {
    const refused = resolve(wrong);
    assert.ok(!refused.ok && refused.problem.code === "base-url-invalid", wrong);
  }
});

Deno.test("flemma gives up after connect_timeout if a host accepts no connection, but not if the host takes time to respond", async () => {
  const server = serve(() => ({ body: "ok" }));
  const request = { method: "POST", url: server.url, headers: {}, body: "{}" } as const;
  const exchange = (reach: () => Promise<boolean>, thought: Promise<unknown>) =>
    posted({
      request,
      timeout: 60,
      connectTimeout: 0.05,
      reach,
      fetch: async (input, init) => {
        await Promise.race([thought, aborted(init?.signal)]);
        return await fetch(input, init);
      },
    });
  const forever = new Promise<never>(() => {});
  const mute = await exchange(() => forever, forever);
  assert.ok(mute.kind === "failed");
  assert.match(mute.error.message, /did not accept a connection within 0\.05 s/);
  for (const known of [true, false]) {
    const thought = new Promise((resolve) => setTimeout(resolve, 150));
    const late = await exchange(() => Promise.resolve(known), thought);
    assert.equal(late.kind, "stream");
  }
  await server.close();
});

function aborted(signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
}

Deno.test("flemma finds out whether a host accepts or refuses connections", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`;
  const signal = new AbortController().signal;
  assert.equal(await isReachable(url, signal), true);
  assert.equal(await isReachable(url, AbortSignal.abort()), false);
  listener.close();
  assert.equal(await isReachable(url, signal), false);
  assert.equal(await isReachable("no address", signal), false);
});

Deno.test("if a proxy is set and does not accept a connection, the request fails, and the message names the proxy", async () => {
  const asked: string[] = [];
  const exchange = await posted({
    request: { method: "POST", url: "https://api.example/v1", headers: {}, body: "{}" },
    connectTimeout: 0.01,
    proxy: { url: "http://proxy.example:3128", host: "proxy.example:3128", variable: "HTTPS_PROXY" },
    reach: (url) => {
      asked.push(url);
      return new Promise(() => {});
    },
    fetch: (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason))),
  });
  assert.deepEqual(asked, ["http://proxy.example:3128"]);
  assert.ok(exchange.kind === "failed");
  assert.equal(exchange.error.code, "provider-timeout");
  assert.match(
    exchange.error.message,
    /^The proxy proxy\.example:3128 \(from HTTPS_PROXY\) did not accept a connection/,
  );
});

Deno.test("a redirect is any status from 300 to 399, and flemma follows none", async () => {
  for (const [status, kind] of [[299, "body"], [300, "failed"], [399, "failed"], [400, "body"]] as const) {
    let asked = 0;
    const exchange = await posted({
      fetch: () => {
        asked++;
        const headers = { "content-type": "application/json", location: "http://127.0.0.1:1/" };
        return Promise.resolve(new Response("{}", { status, headers }));
      },
    });
    assert.deepEqual([exchange.kind, asked], [kind, 1], `${status}`);
    if (exchange.kind === "failed") assert.match(exchange.error.message, /redirects to .*are not followed/);
  }
});

Deno.test("reading a reply pauses while its consumer is behind, and this does not count as silence of the server", () =>
  withClock(async (clock) => {
    const sent = Array.from({ length: 50 }, (_, at) => `data: {"at":${at}}\n\n`);
    const pulled: number[] = [];
    const taken: number[] = [];
    const behind = 5;
    const exchange = await posted({
      timeout: 0.2,
      fetch: () => {
        let at = 0;
        const body = new ReadableStream<Uint8Array>({
          pull(controller) {
            if (at === sent.length) return controller.close();
            pulled.push(at);
            controller.enqueue(new TextEncoder().encode(sent[at++]));
          },
        }, { highWaterMark: 0 });
        return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
      },
      onEvent: (data) => {
        taken.push((data as { at: number }).at);
        return "more";
      },
      room: () => {
        if (taken.length !== behind) return undefined;
        // Longer than the server may be silent.
        return clock.pass(400).then(() => {
          assert.ok(pulled.length <= behind + 1, `${pulled.length} were read`);
        });
      },
    });
    assert.equal(exchange.kind, "stream");
    assert.deepEqual(taken, sent.map((_, at) => at));
  }));

Deno.test("byte streams are read into one buffer and other streams in pieces, with the same events", async () => {
  const sent = new TextEncoder().encode(
    Array.from({ length: 500 }, (_, at) => `data: {"at":${at},"text":"${"–".repeat(at)}"}\n\n`).join(""),
  );
  const sizes = new Set<number>();
  let own = 0;
  const bodies: Readonly<Record<string, () => ReadableStream<Uint8Array>>> = {
    bytes: () => {
      let at = 0;
      return new ReadableStream({
        type: "bytes",
        pull(controller) {
          const view = controller.byobRequest?.view as Uint8Array | undefined;
          if (view === undefined) return void own++, controller.error(new Error("no buffer was given"));
          sizes.add(view.byteLength);
          const piece = sent.subarray(at, at + Math.min(1000, view.byteLength));
          at += piece.length;
          view.set(piece);
          if (piece.length === 0) controller.close();
          controller.byobRequest!.respond(piece.length);
        },
      });
    },
    pieces: () => {
      let at = 0;
      return new ReadableStream({
        pull(controller) {
          if (at >= sent.length) return controller.close();
          controller.enqueue(sent.subarray(at, at += 1000));
        },
      });
    },
  };
  for (const [kind, body] of Object.entries(bodies)) {
    const events: number[] = [];
    const exchange = await posted({
      timeout: 5,
      fetch: () =>
        Promise.resolve(new Response(body(), { headers: { "content-type": "text/event-stream" } })),
      onEvent: (data) => {
        const { at, text } = data as { at: number; text: string };
        assert.equal(text, "–".repeat(at));
        events.push(at);
        return "more";
      },
      onUnreadable: (data) => assert.fail(data),
    });
    assert.equal(exchange.kind, "stream", kind);
    assert.deepEqual(events, Array.from({ length: 500 }, (_, at) => at), kind);
  }
  assert.deepEqual([own, sizes.size], [0, 1]);
});

Deno.test("a reply that is not an event stream is read up to a limit, and so are invalid lines in an event stream", async () => {
  const stray = new TextEncoder().encode(`${"x".repeat(1023)}\n`.repeat(64));
  const answered = async (begins: string, pieces: number) => {
    let pulled = 0;
    let size = 0;
    const exchange = await posted({
      timeout: 60,
      fetch: () =>
        Promise.resolve(
          new Response(
            new ReadableStream({
              pull(controller) {
                if (pulled === pieces) return controller.close();
                controller.enqueue(pulled++ === 0 ? new TextEncoder().encode(begins) : stray);
              },
            }, { highWaterMark: 0 }),
            { headers: { "content-type": "text/event-stream" } },
          ),
        ),
    });
    assert.equal(exchange.kind, "stream");
    if (exchange.kind === "stream") size = exchange.lines.join("\n").length;
    return { pulled, size };
  };
  const endless = await answered("<html>\n", Infinity);
  assert.ok(endless.size >= 1 << 20 && endless.size <= (1 << 20) + 2 * stray.length, `${endless.size}`);
  const stream = await answered("data: {}\n\n", 100);
  assert.equal(stream.pulled, 100, "a stream is read to its end");
  assert.ok(stream.size <= (1 << 20) + 2 * stray.length, `${stream.size}`);
});

Deno.test("pings keep a request alive for a limited time, and any other event restarts that time", async () => {
  const limit = 1;
  const after = async (type: string, piece: (at: number) => string) => {
    let kind = "";
    await withClock(async (clock) => {
      const begun = clock.now();
      let ended = false;
      const exchange = await posted({
        timeout: 60,
        pingTimeout: limit,
        fetch: (_, init) => {
          const body = new ReadableStream<Uint8Array>({
            start: (controller) =>
              init?.signal?.addEventListener("abort", () => controller.error(init.signal?.reason), {
                once: true,
              }),
            async pull(controller) {
              await clock.pass(20);
              if (ended || init?.signal?.aborted) return;
              const since = clock.now() - begun;
              ended = since > limit * 1300;
              controller.enqueue(new TextEncoder().encode(piece(ended ? -1 : Math.floor(since / 100))));
              if (ended) controller.close();
            },
          }, { highWaterMark: 0 });
          return Promise.resolve(new Response(body, { headers: { "content-type": type } }));
        },
      });
      kind = exchange.kind === "failed" ? exchange.error.message : exchange.kind;
    });
    return kind;
  };
  const stream = "text/event-stream";
  const given =
    /^127\.0\.0\.1:9 sent only pings for 1 s and nothing of the reply, so the request was stopped\.$/;
  const rows: readonly [string, string, (at: number) => string, RegExp][] = [
    ["comments", stream, () => ": still here\n\n", given],
    ["empty events", stream, () => "data:\n\n", given],
    ["pings by name", stream, () => 'event: ping\ndata: {"type":"ping"}\n\n', given],
    ["a line that does not end", stream, () => "d", given],
    ["blanks of a body", "application/json", () => " ", given],
    ["events", stream, () => 'data: {"type":"content_block_delta"}\n\n', /^stream$/],
    [
      "pings and events",
      stream,
      (at) => `data: {"type":"${at % 5 === 0 ? "delta" : "ping"}"}\n\n`,
      /^stream$/,
    ],
    ["what cannot be read", stream, () => "data: {\n\n", /^stream$/],
    ["a body", "application/json", () => "1", /^body$/],
  ];
  for (const [what, type, piece, expected] of rows) assert.match(await after(type, piece), expected, what);
});

Deno.test("a ping is distinguished from every other event: one row per condition", () => {
  const chunk = (choice: object, more: object = {}) => ({ choices: [{ index: 0, ...choice }], ...more });
  const empty = {
    delta: { role: "assistant", content: "", tool_calls: [], refusal: null },
    finish_reason: null,
  };
  const pings: readonly object[] = [
    { type: "ping" },
    { type: "keepalive", sequence_number: 3 },
    chunk(empty),
    chunk({}),
    chunk({ delta: {} }, { usage: null }),
  ];
  const others: readonly object[] = [
    [],
    {},
    { type: "message_start" },
    { type: "error", error: { message: "ping" } },
    { choices: [] },
    chunk(empty, { usage: { prompt_tokens: 1 } }),
    chunk(empty, { error: { message: "no" } }),
    chunk({ ...empty, finish_reason: "stop" }),
    chunk({ ...empty, usage: {} }),
    chunk({ ...empty, message: { content: "all" } }),
    chunk({ delta: { content: "a" } }),
    chunk({ delta: { reasoning: "a" } }),
    chunk({ delta: { tool_calls: [{ index: 0 }] } }),
    chunk({ delta: "a" }),
    { choices: ["a"] },
    { choices: [{ delta: {} }, { delta: { content: "a" } }] },
  ];
  for (const event of pings) assert.equal(isPing(event), true, JSON.stringify(event));
  for (const event of others) assert.equal(isPing(event), false, JSON.stringify(event));
});
