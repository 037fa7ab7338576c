// What a person without any key is told: the variables of providers, and servers on this machine that need no key.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { findLocalServers } from "../../providers/http/local_servers.ts";
import { type Scene, testWithScene as test } from "./harness.ts";

interface Served {
  readonly port: number;
  readonly requests: readonly {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly (readonly [string, string])[];
  }[];
}

/** Runs `body` while a server on loopback answers. */
async function serving(
  answer: (request: Request) => Response | Promise<Response>,
  body: (served: Served) => Promise<void>,
): Promise<void> {
  const requests: Served["requests"][number][] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    requests.push({ method: request.method, url: request.url, headers: [...request.headers] });
    return answer(request);
  });
  try {
    await body({ port: server.addr.port, requests });
  } finally {
    await server.shutdown();
  }
}

const list = (...ids: readonly string[]) =>
  JSON.stringify({ object: "list", data: ids.map((id) => ({ id, object: "model", owned_by: "library" })) });

/** Variables with which nothing is looked for at the ports that servers usually have. */
const NOWHERE = Object.fromEntries(
  ["LLAMACPP", "LMSTUDIO", "OLLAMA", "VLLM"].map((
    name,
  ) => [`FLEMMA_${name}_BASE_URL`, "https://models.example/v1"]),
);

const around = (variables: Readonly<Record<string, string>>) => ({ cwd: "/", home: "/", variables });
const at = (port: number) => ({ ...NOWHERE, FLEMMA_OLLAMA_BASE_URL: `http://localhost:${port}/v1` });

/** The models that are found at a server; null if it is not taken for one. */
async function modelsOf(
  port: number,
  { limit = 5_000, variables = {} }: {
    readonly limit?: number;
    readonly variables?: Readonly<Record<string, string>>;
  } = {},
): Promise<readonly string[] | null> {
  const found = await findLocalServers(DEFAULT_SETTINGS, around({ ...at(port), ...variables }), { limit });
  assert.ok(found.every(({ provider }) => provider === "ollama"));
  return found[0]?.models ?? null;
}

const ANSWERS: Readonly<Record<string, readonly [() => Response, readonly string[] | null]>> = {
  "a list": [() => new Response(list("qwen3:8b", "llama3.2:latest")), ["qwen3:8b", "llama3.2:latest"]],
  "a list with unknown members": [
    () => new Response('{"data":[{"id":"a.gguf","meta":{"n_ctx":4096}}],"models":[{"name":"b"}]}'),
    ["a.gguf"],
  ],
  "a list of names": [() => new Response('{"models":[{"name":"mistral"}]}'), ["mistral"]],
  "no models": [() => new Response(list()), []],
  "null for a list": [() => new Response('{"object":"list","data":null}'), []],
  "only models for embeddings": [() => new Response(list("nomic-embed-text", "bge-reranker")), []],
  "names that cannot be typed": [
    () => new Response(list("\u001b[31mred", "two words", "x".repeat(300), "good")),
    ["good"],
  ],
  "a page": [
    () => new Response("<!doctype html><p>It works!", { headers: { "content-type": "text/html" } }),
    null,
  ],
  "JSON of something else": [() => new Response('{"status":"up"}'), null],
  "null": [() => new Response("null"), null],
  "an array of something else": [() => new Response("[1, 2]"), null],
  "nothing": [() => new Response(null, { status: 204 }), null],
  "an error with a list": [() => new Response(list("a"), { status: 500 }), null],
  "a demand for a key": [() => new Response(list("a"), { status: 401 }), null],
  "half a list": [() => new Response(list("a").slice(0, -3)), null],
  "a list without end": [() => new Response(list("a", "b".repeat(2_000_000))), null],
};

for (const [name, [answer, expected]] of Object.entries(ANSWERS)) {
  Deno.test(`a server on this machine that answers with ${name}`, () =>
    serving(answer, async ({ port }) => assert.deepEqual(await modelsOf(port), expected)));
}

Deno.test("a server on this machine that never answers, or stops in the middle, is given up", async () => {
  const over = Promise.withResolvers<Response>();
  await serving(() => over.promise, async ({ port }) => {
    assert.equal(await modelsOf(port, { limit: 20 }), null);
    over.resolve(new Response());
  });
  let end = () => {};
  const half = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"data":[{"id":"a"}'));
      end = () => controller.close();
    },
  });
  await serving(() => new Response(half), async ({ port }) => {
    assert.equal(await modelsOf(port, { limit: 100 }), null);
    end();
  });
});

Deno.test("a server on this machine is asked once, without a key or anything else of the person's", () =>
  serving(() => new Response(list("a")), async ({ port, requests }) => {
    const variables = {
      FLEMMA_OLLAMA_BASE_URL: `http://me:secret@localhost:${port}/secret?token=secret`,
      OLLAMA_API_KEY: "secret",
    };
    assert.deepEqual(await modelsOf(port, { variables }), ["a"]);
    const [{ method, url, headers }] = requests as [Served["requests"][number]];
    assert.deepEqual([requests.length, method, url], [1, "GET", `http://127.0.0.1:${port}/v1/models`]);
    assert.ok(!JSON.stringify(headers).includes("secret"));
    const usual = ["accept", "accept-encoding", "accept-language", "host", "user-agent"];
    assert.deepEqual(headers.filter(([name]) => !usual.includes(name)), []);
  }));

Deno.test("a server on this machine is asked without a proxy, and its redirections are not followed", () =>
  serving(
    () => new Response(list("elsewhere")),
    (other) =>
      serving(() => Response.redirect(`http://127.0.0.1:${other.port}/`), async ({ port, requests }) => {
        const proxy = `http://127.0.0.1:${other.port}`;
        const variables = {
          http_proxy: proxy,
          HTTP_PROXY: proxy,
          ALL_PROXY: proxy,
          no_proxy: "",
          NO_PROXY: "",
        };
        const before = Deno.env.get("http_proxy");
        Deno.env.set("http_proxy", proxy);
        try {
          assert.equal(await modelsOf(port, { variables }), null);
        } finally {
          if (before === undefined) Deno.env.delete("http_proxy");
          else Deno.env.set("http_proxy", before);
        }
        assert.deepEqual([requests.length, other.requests.length], [1, 0]);
      }),
  ));

Deno.test("servers that settings place elsewhere are not asked", () =>
  serving(() => new Response(list("a")), async ({ port, requests }) => {
    const elsewhere = [
      "https://localhost",
      "http://models.example",
      "http://localhost.example",
      "http://[::1]",
      "http://0.0.0.0",
    ].map((url) => `${url}:${port}/v1`);
    for (const base of [...elsewhere, "nonsense"]) {
      const settings: Settings = { ...DEFAULT_SETTINGS, providers: { ollama: { base_url: base } } };
      assert.deepEqual(await findLocalServers(settings, around(NOWHERE)), [], base);
    }
    assert.equal(requests.length, 0);
  }));

const ASKED = "@You:\nhi\n";

interface Told {
  readonly args: readonly string[];
  readonly stdin?: string;
  /** The command in the last line. */
  readonly again: RegExp;
}

const COMMANDS: Readonly<Record<string, Told>> = {
  "ask": { args: ["ask", "hi"], again: /flemma (ask --last --provider ollama --model qwen3:8b)$/ },
  "ask in a document": {
    args: ["ask", "--file", "y.chat", "hi"],
    again: /flemma (ask --file y\.chat --provider ollama --model qwen3:8b)$/,
  },
  "ask about piped text": {
    args: ["ask", "review"],
    stdin: "diff",
    again: /flemma (ask --last --provider ollama --model qwen3:8b)$/,
  },
  "advance": { args: ["advance", "x.chat"], again: /flemma (advance --provider \S+ --model \S+ x\.chat)$/ },
  "the bare form": { args: ["x.chat"], again: /flemma (advance --provider \S+ --model \S+ x\.chat)$/ },
  "send": { args: ["send", "x.chat"], again: /flemma (send --provider \S+ --model \S+ x\.chat)$/ },
  "new": { args: ["new", "z.chat", "-m", "hi", "--go"], again: /flemma (advance --provider .* z\.chat)$/ },
};

/** Answers like Ollama: lists a model, and replies to requests that name it. */
function ollama(request: Request): Response | Promise<Response> {
  if (request.method === "GET") return new Response(list("nomic-embed-text", "qwen3:8b"));
  return request.json().then(({ model }) => {
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: "1", model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const text = chunk({ role: "assistant", content: `I am ${model}.` }, null) + chunk({}, "stop");
    return new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
  });
}

const keyless = (
  place: Scene,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin?: string,
) => place.run(args, { env, ...(stdin === undefined ? {} : { stdin }) });

for (const [name, { args, stdin, again }] of Object.entries(COMMANDS)) {
  test(`without any key, ${name} says in eight lines what to do, and its last line leads to an answer`, (place) =>
    serving(ollama, async ({ port, requests }) => {
      place.write("x.chat", ASKED);
      const { code, stderr } = await keyless(place, args, at(port), stdin);
      assert.equal(code, 1);
      const lines = stderr.trimEnd().split("\n");
      assert.ok(lines.length <= 8, stderr);
      assert.match(stderr, /Set the variable ANTHROPIC_API_KEY\b/);
      assert.match(stderr, /--provider openai \(OPENAI_API_KEY\)/);
      const line = again.exec(lines.at(-1)!);
      assert.ok(line !== null, stderr);
      assert.match(
        stderr,
        args[0] === "ask" ? /\n {2}Then: flemma ask --/ : /\n {2}Then: flemma \w+ \w\.chat\n/,
      );
      assert.deepEqual(requests.map(({ method }) => method), ["GET"]);
      const done = await keyless(place, line[1]!.split(" "), at(port));
      assert.equal(done.code, 0, done.stderr);
      const answer = args[0] === "ask"
        ? done.stdout
        : place.read(args.find((word) => word.endsWith(".chat"))!);
      assert.match(answer, /I am qwen3:8b\./);
    }));
}

test("without any key and any server, the last line names the demo", async (place) => {
  place.write("x.chat", ASKED);
  const { stderr } = await keyless(place, ["advance", "x.chat"], NOWHERE);
  assert.match(stderr, /\n {2}To see how flemma works without a key: flemma demo\n$/);
});

test("without any key, a server without a model is named with what it lacks", (place) =>
  serving(() => new Response(list()), async ({ port }) => {
    place.write("x.chat", ASKED);
    const { stderr } = await keyless(place, ["advance", "x.chat"], at(port));
    assert.match(
      stderr,
      /Ollama on this machine needs no key, but lists no model yet: get one with: ollama pull/,
    );
  }));

test("a name that a shell would change is quoted", (place) =>
  serving(() => new Response(list("$(touch${IFS}x)")), async ({ port }) => {
    place.write("x.chat", ASKED);
    const { stderr } = await keyless(place, ["advance", "x.chat"], at(port));
    assert.match(stderr, /--model '\$\(touch\$\{IFS\}x\)' x\.chat/);
  }));

test("no server is looked for while a key of another provider is set, or when the request has another fault", (place) =>
  serving(ollama, async ({ port, requests }) => {
    place.write("x.chat", ASKED);
    const { stderr } = await keyless(place, ["advance", "x.chat"], { ...at(port), OPENAI_API_KEY: "k" });
    assert.match(stderr, /or use OpenAI, whose key is set: --provider openai/);
    const down = { ...at(port), ANTHROPIC_API_KEY: "k", FLEMMA_ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
    await keyless(place, ["advance", "--no-retry", "x.chat"], down);
    assert.equal(requests.length, 0);
  }));

test("ask --last without words sends a question that has no answer, and nothing else", (place) =>
  serving(ollama, async ({ port, requests }) => {
    const env = at(port);
    await keyless(place, ["ask", "hi"], env);
    const options = ["--provider", "ollama", "--model", "qwen3:8b"];
    assert.equal((await keyless(place, ["ask", "--last", ...options], env)).code, 0);
    const sent = requests.length;
    const { code, stderr } = await keyless(place, ["ask", "--last", ...options], env);
    assert.equal(code, 2);
    assert.match(stderr, /ask needs a question/);
    for (const args of [["ask"], ["ask", "--file", "none.chat"]]) {
      assert.equal((await keyless(place, args, env)).code, 2);
    }
    assert.ok(!place.exists("none.chat"));
    assert.equal(requests.length, sent);
  }));
