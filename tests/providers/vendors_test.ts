// Each vendor by name: where a request goes, how it carries the key, and that the vendor's server accepts it.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { listUrl, resolveBaseUrl } from "../../providers/http/endpoint.ts";
import { resolveCredential } from "../../providers/keys/credentials.ts";
import { environmentResolver } from "../../providers/keys/variables.ts";
import { keyReport } from "../../providers/keys/sources.ts";
import { listRequest } from "../../providers/models/listing.ts";
import { getProvider, knownProvider, providerNames, providersInUse } from "../../providers/registry.ts";
import { resolveParameters } from "../../providers/request/parameters.ts";
import { type ApiKind, vendorAt, VENDORS } from "../../providers/vendors.ts";
import { AT_HOME, build, problems } from "./built_request.ts";

type Row = readonly [
  vendor: string,
  kind: ApiKind | null,
  model: string,
  variable: string | null,
  url: string,
  header: "authorization" | "x-api-key" | null,
];

/** Every address of the table, as the vendors document it. A kind of null is the one without an entry. */
const ROWS: readonly Row[] = [
  [
    "cerebras",
    null,
    "cerebras-glm",
    "CEREBRAS_API_KEY",
    "https://api.cerebras.ai/v1/chat/completions",
    "authorization",
  ],
  [
    "deepseek",
    null,
    "deepseek-chat",
    "DEEPSEEK_API_KEY",
    "https://api.deepseek.com/v1/chat/completions",
    "authorization",
  ],
  [
    "deepseek",
    "anthropic",
    "deepseek-chat",
    "DEEPSEEK_API_KEY",
    "https://api.deepseek.com/anthropic/v1/messages",
    "x-api-key",
  ],
  [
    "deepseek",
    "openai",
    "deepseek-chat",
    "DEEPSEEK_API_KEY",
    "https://api.deepseek.com/v1/responses",
    "authorization",
  ],
  [
    "groq",
    null,
    "groq-fast",
    "GROQ_API_KEY",
    "https://api.groq.com/openai/v1/chat/completions",
    "authorization",
  ],
  [
    "groq",
    "openai",
    "openai/gpt-oss-120b",
    "GROQ_API_KEY",
    "https://api.groq.com/openai/v1/responses",
    "authorization",
  ],
  ["llamacpp", null, "default", null, "http://localhost:8080/v1/chat/completions", null],
  ["llamacpp", "anthropic", "default", null, "http://localhost:8080/v1/messages", null],
  ["lmstudio", null, "local", null, "http://localhost:1234/v1/chat/completions", null],
  ["lmstudio", "anthropic", "local", null, "http://localhost:1234/v1/messages", null],
  ["lmstudio", "openai", "local", null, "http://localhost:1234/v1/responses", null],
  [
    "minimax",
    null,
    "MiniMax-M3",
    "MINIMAX_API_KEY",
    "https://api.minimax.io/v1/chat/completions",
    "authorization",
  ],
  [
    "minimax",
    "anthropic",
    "MiniMax-M3",
    "MINIMAX_API_KEY",
    "https://api.minimax.io/anthropic/v1/messages",
    "x-api-key",
  ],
  [
    "minimax",
    "openai",
    "MiniMax-M3",
    "MINIMAX_API_KEY",
    "https://api.minimax.io/v1/responses",
    "authorization",
  ],
  [
    "mistral",
    null,
    "mistral-large",
    "MISTRAL_API_KEY",
    "https://api.mistral.ai/v1/chat/completions",
    "authorization",
  ],
  ["ollama", null, "qwen3:8b", null, "http://localhost:11434/v1/chat/completions", null],
  ["ollama", "anthropic", "qwen3:8b", null, "http://localhost:11434/v1/messages", null],
  ["ollama", "openai", "qwen3:8b", null, "http://localhost:11434/v1/responses", null],
  [
    "ollama-cloud",
    null,
    "llama4",
    "OLLAMA_API_KEY",
    "https://ollama.com/v1/chat/completions",
    "authorization",
  ],
  ["ollama-cloud", "anthropic", "kimi", "OLLAMA_API_KEY", "https://ollama.com/v1/messages", "authorization"],
  [
    "ollama-cloud",
    "openai",
    "kimi",
    "OLLAMA_CLOUD_API_KEY",
    "https://ollama.com/v1/responses",
    "authorization",
  ],
  [
    "openrouter",
    null,
    "a/b",
    "OPENROUTER_API_KEY",
    "https://openrouter.ai/api/v1/chat/completions",
    "authorization",
  ],
  ["vllm", null, "Qwen/Q", null, "http://localhost:8000/v1/chat/completions", null],
  ["vllm", null, "Qwen/Q", "VLLM_API_KEY", "http://localhost:8000/v1/chat/completions", "authorization"],
  ["vllm", "anthropic", "Qwen/Q", null, "http://localhost:8000/v1/messages", null],
  ["vllm", "openai", "Qwen/Q", null, "http://localhost:8000/v1/responses", null],
  ["xai", null, "grok-5", "XAI_API_KEY", "https://api.x.ai/v1/responses", "authorization"],
  ["xai", "openai_chat", "grok-5", "XAI_API_KEY", "https://api.x.ai/v1/chat/completions", "authorization"],
  ["zai", null, "glm-5", "Z_AI_API_KEY", "https://api.z.ai/api/paas/v4/chat/completions", "authorization"],
  ["zai", "anthropic", "glm-5", "ZAI_API_KEY", "https://api.z.ai/api/anthropic/v1/messages", "x-api-key"],
  [
    "zai-coding",
    null,
    "glm-5",
    "ZAI_CODING_API_KEY",
    "https://api.z.ai/api/coding/paas/v4/chat/completions",
    "authorization",
  ],
  [
    "zai-coding",
    "openai",
    "glm-5",
    "ZAI_CODING_API_KEY",
    "https://api.z.ai/api/v1/responses",
    "authorization",
  ],
];

for (const [vendor, kind, model, variable, url, header] of ROWS) {
  const way = `${kind ?? "its usual API"}${variable === null ? ", without a key" : ""}`;
  Deno.test(`a request to ${vendor} by ${way} has its address and key, and the strict server accepts it`, async () => {
    const built = await build(vendor, {
      model,
      ...(kind === null ? {} : { entry: { kind } }),
      variables: variable === null ? {} : { [variable]: "key-1" },
    });
    assert.equal(built.url, url);
    const sent = ["authorization", "x-api-key", "api-key"].filter((name) =>
      built.headers[name] !== undefined
    );
    assert.deepEqual(sent, header === null ? [] : [header]);
    if (header !== null) {
      assert.equal(built.headers[header], header === "authorization" ? "Bearer key-1" : "key-1");
    }
    assert.equal(built.body.model, model);
    assert.deepEqual(await problems(kind ?? VENDORS[vendor]!.kind, built), []);
  });
}

Deno.test("the rows above cover every address of the table, and the two of Qwen have a test of their own", () => {
  const covered = new Set(ROWS.map(([vendor, kind]) => `${vendor} ${kind ?? VENDORS[vendor]!.kind}`));
  const all = Object.entries(VENDORS).flatMap(([name, { baseUrls }]) =>
    Object.keys(baseUrls).map((kind) => `${name} ${kind}`)
  );
  assert.deepEqual(all.filter((each) => !covered.has(each)), ["qwen openai_chat", "qwen anthropic"]);
});

Deno.test("Qwen sends nothing until the settings name the address of the workspace", async () => {
  const found = await getProvider("qwen");
  assert.ok(found.ok);
  const missing = resolveBaseUrl(found.value, DEFAULT_SETTINGS, AT_HOME);
  assert.ok(!missing.ok);
  assert.equal(missing.problem.code, "base-url-incomplete");
  assert.match(missing.problem.message, /^The address of the provider qwen contains your workspace/);
  assert.match(missing.problem.next ?? "", /^Set providers\.qwen\.base_url to https:\/\/\{workspace\}\./);
  // The step works when followed literally, and the page's address with its braces is caught too.
  const host = "ws-1.ap-southeast-1.maas.aliyuncs.com";
  for (
    const [kind, base, url] of [
      [
        "openai_chat",
        `https://${host}/compatible-mode/v1`,
        `https://${host}/compatible-mode/v1/chat/completions`,
      ],
      ["anthropic", `https://${host}/apps/anthropic`, `https://${host}/apps/anthropic/v1/messages`],
    ] as const
  ) {
    const built = await build("qwen", {
      model: "qwen3-max",
      entry: { kind, base_url: base },
      variables: { DASHSCOPE_API_KEY: "k" },
    });
    assert.equal(built.url, url);
    assert.deepEqual(await problems(kind, built), []);
  }
  const copied = { ...DEFAULT_SETTINGS, providers: { qwen: { base_url: "https://{workspace}.x/v1" } } };
  const refused = resolveBaseUrl(found.value, copied, AT_HOME);
  assert.ok(!refused.ok && refused.problem.code === "base-url-incomplete");
});

Deno.test("an API that a vendor does not offer, and an entry without an address, have no address that could get a key", async () => {
  const rows = [["mistral", { kind: "anthropic" }], ["work", { kind: "anthropic" }], ["work", {
    kind: "openai",
  }]] as const;
  for (const [name, entry] of rows) {
    const settings: Settings = { ...DEFAULT_SETTINGS, providers: { [name]: entry } };
    const found = await getProvider(name, settings);
    assert.ok(found.ok);
    const base = resolveBaseUrl(found.value, settings, AT_HOME);
    assert.ok(!base.ok && base.problem.code === "base-url-missing", JSON.stringify(base));
    assert.match(base.problem.next ?? "", new RegExp(`^Set providers\\.${name}\\.base_url`));
  }
});

Deno.test("the person's settings for a vendor take precedence, and a null leaves the vendor's own", async () => {
  const variables = { LAB_KEY: "k2", DEEPSEEK_API_KEY: "k1" };
  const built = await build("deepseek", {
    model: "deepseek-chat",
    variables,
    entry: {
      base_url: "https://gw.example/ds",
      key_env: ["LAB_KEY"],
      reasoning_key: null,
      reasoning_field: "thoughts",
      headers: { "X-Project": "p1" },
      auth: "api-key",
      max_tokens_key: "max_completion_tokens",
    },
    parameters: { openai_chat: { thinking: "high" } },
  });
  assert.equal(built.url, "https://gw.example/ds/v1/chat/completions");
  assert.deepEqual([built.headers["api-key"], built.headers.authorization, built.headers["x-project"]], [
    "k2",
    undefined,
    "p1",
  ]);
  assert.deepEqual(built.body.thinking, { type: "enabled" });
  assert.equal(built.body.messages[2].thoughts, "I look.");
  assert.ok(built.body.max_completion_tokens > 0);
});

Deno.test("a missing key of a vendor is an error that names the variable to set, and a local server needs none", async () => {
  for (const [name, { keyVariables, isLocal }] of Object.entries(VENDORS)) {
    const answer = await resolveCredential({ provider: knownProvider(name)!, environment: AT_HOME }, [
      { name: "environment", resolve: () => Promise.resolve({ reason: "not set" }) },
    ]);
    if (isLocal) assert.deepEqual(answer, { ok: true, value: { secret: "", source: null } }, name);
    else {
      assert.ok(!answer.ok && answer.problem.code === "credential-missing", name);
      assert.match(answer.problem.message, new RegExp(`^No key for ${VENDORS[name]!.display} was found`));
      assert.match(answer.problem.next ?? "", new RegExp(`^Set the variable ${keyVariables[0]},`));
    }
  }
});

Deno.test("an error about a missing key names another provider whose key is set", async () => {
  const rows = [
    ["anthropic", { DEEPSEEK_API_KEY: "k" }, /; or use DeepSeek, whose key is set: --provider deepseek$/],
    ["deepseek", { OPENAI_API_KEY: "k" }, /; or use OpenAI, whose key is set: --provider openai$/],
    [
      "deepseek",
      { MISTRAL_API_KEY: "" },
      /^Set the variable DEEPSEEK_API_KEY, for example export DEEPSEEK_API_KEY=…$/,
    ],
  ] as const;
  for (const [name, variables, next] of rows) {
    const query = { provider: knownProvider(name)!, environment: { ...AT_HOME, variables } };
    const answer = await resolveCredential(query, [environmentResolver]);
    assert.ok(!answer.ok);
    assert.match(answer.problem.next ?? "", next);
  }
});

Deno.test("a command that fails to print a key is named if no variable may hold the key", async () => {
  const settings: Settings = { ...DEFAULT_SETTINGS, providers: { ollama: { key_command: "false" } } };
  const query = { provider: knownProvider("ollama", settings)!, environment: AT_HOME, settings };
  const answer = await resolveCredential(query);
  assert.ok(!answer.ok);
  assert.equal(answer.problem.next, "Correct the command in providers.ollama.key_command.");
});

Deno.test("an entry that names its key never uses another one, and never goes without", async () => {
  const variables = { BEDROCK_API_KEY: "wrong", DEEPSEEK_API_KEY: "wrong", ANTHROPIC_API_KEY: "wrong" };
  for (const name of ["bedrock", "deepseek", "anthropic"]) {
    const providers = {
      [name]: { kind: "anthropic", base_url: "https://x", key_env: ["AWS_TOKEN"] },
    } as const;
    const settings = { ...DEFAULT_SETTINGS, providers };
    const provider = knownProvider(name, settings)!;
    const query = { provider, environment: { ...AT_HOME, variables }, settings };
    const none = await keyReport(query, { name: "keyring", resolve: () => Promise.resolve(null) });
    assert.ok(!none.found && /AWS_TOKEN is not set/.test(none.detail), `${name}: ${none.detail}`);
    const set = { ...query, environment: { ...AT_HOME, variables: { ...variables, AWS_TOKEN: "right" } } };
    const key = await resolveCredential(set);
    assert.ok(key.ok && key.value.secret === "right");
  }
});

Deno.test("Ollama on this machine never gets the key of Ollama's cloud", async () => {
  const variables = { OLLAMA_API_KEY: "cloud-key", OLLAMA_CLOUD_API_KEY: "cloud-key" };
  const found = await getProvider("ollama");
  assert.ok(found.ok);
  const key = await resolveCredential({ provider: found.value, environment: { ...AT_HOME, variables } });
  assert.deepEqual(key, { ok: true, value: { secret: "", source: null } });
  const built = await build("ollama", { model: "m", entry: { kind: "openai_chat" }, variables });
  assert.equal(built.headers.authorization, undefined);
});

Deno.test("a vendor's list of models is asked for at its own address, with the key as in requests", async () => {
  const rows = [
    ["deepseek", {}, "https://api.deepseek.com/v1/models", { authorization: "Bearer k" }],
    ["zai", {}, "https://api.z.ai/api/paas/v4/models", { authorization: "Bearer k" }],
    ["groq", {}, "https://api.groq.com/openai/v1/models", { authorization: "Bearer k" }],
    ["lab", { kind: "openai_chat", base_url: "http://l/v1/chat/completions" }, "http://l/v1/models", {
      authorization: "Bearer k",
    }],
    [
      "work",
      { kind: "anthropic", base_url: "https://x/v1/messages", auth: "bearer" },
      "https://x/v1/models",
      {
        "authorization": "Bearer k",
        "anthropic-version": "2023-06-01",
      },
    ],
    [
      "azure",
      { kind: "openai", base_url: "https://r/openai/v1", auth: "api-key" },
      "https://r/openai/v1/models",
      {
        "api-key": "k",
      },
    ],
  ] as const;
  for (const [name, entry, url, headers] of rows) {
    const settings: Settings = { ...DEFAULT_SETTINGS, providers: { [name]: entry } };
    const found = await getProvider(name, settings);
    assert.ok(found.ok);
    const base = resolveBaseUrl(found.value, settings, AT_HOME);
    const list = listRequest(found.value, "k", settings);
    assert.ok(base.ok && list !== null);
    assert.equal(listUrl(base.value, list.path), url);
    assert.deepEqual(list.headers, headers);
  }
});

Deno.test("vendors are providers by name; their parameters are in the table of their API", () => {
  for (const name of Object.keys(VENDORS)) assert.ok(providerNames().includes(name), name);
  const parameters = {
    ...DEFAULT_SETTINGS.parameters,
    openai_chat: { max_tokens: 7 },
    openai: { max_tokens: 8 },
  };
  const of = (name: string, providers: Settings["providers"] = {}) =>
    resolveParameters({ ...DEFAULT_SETTINGS, parameters, providers } as Settings, name).maxTokens;
  assert.deepEqual([of("deepseek"), of("xai"), of("deepseek", { deepseek: { kind: "openai" } })], [7, 8, 8]);
});

Deno.test("reports list the built-in providers, the current one, entries, and vendors whose key is set", () => {
  const settings = {
    provider: "zai",
    providers: { groq: { max_requests: 1 }, lab: { kind: "openai_chat" } },
  } as const;
  const names = providersInUse(settings, { DEEPSEEK_API_KEY: "k", MISTRAL_API_KEY: "" });
  const others = names.filter((name) =>
    !["anthropic", "openai", "gemini", "vertex", "moonshot", "openai_chat"].includes(name)
  );
  assert.deepEqual(others, ["deepseek", "groq", "lab", "zai"]);
});

Deno.test("a host belongs to the vendor whose address or domain it is, and to no other", () => {
  for (const [name, vendor] of Object.entries(VENDORS)) {
    for (const url of Object.values(vendor.baseUrls)) {
      const found = vendorAt(url.split("/")[2]!.split(":")[0]!.replace(/^\{.*?\}/, "w"));
      assert.equal(
        found?.display.split(" ")[0],
        vendor.isLocal ? undefined : vendor.display.split(" ")[0],
        name,
      );
    }
    for (const domain of vendor.domains ?? []) assert.equal(vendorAt(`api.${domain}`), vendor, domain);
  }
  for (const host of ["notgroq.com", "groq.com.example", "example.com", "localhost", ""]) {
    assert.equal(vendorAt(host), null, host);
  }
});
