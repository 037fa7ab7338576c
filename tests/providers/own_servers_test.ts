import assert from "node:assert/strict";
import { VENDOR_KEYS } from "../../config/data/vendors.generated.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { parse } from "../../parser/mod.ts";
import { evaluateChat } from "../../prompt/evaluate.ts";
import { chatUrl } from "../../providers/chat_completions/address.ts";
import { resolveCredential } from "../../providers/keys/credentials.ts";
import { getProvider, knownProvider, providerNames } from "../../providers/registry.ts";
import { resolveParameters } from "../../providers/request/parameters.ts";
import { VENDORS } from "../../providers/vendors.ts";

const AT_HOME = { cwd: "/", home: "/", variables: {} };

Deno.test("a base URL may include the version, a path prefix or a query, or be the complete address", () => {
  for (
    const [base, url] of [
      ["http://localhost:11434", "http://localhost:11434/v1/chat/completions"],
      ["http://localhost:11434/", "http://localhost:11434/v1/chat/completions"],
      ["http://localhost:8000/v1", "http://localhost:8000/v1/chat/completions"],
      ["http://localhost:8000/v1/", "http://localhost:8000/v1/chat/completions"],
      ["https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"],
      ["https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"],
      ["https://open.bigmodel.cn/api/paas/v4", "https://open.bigmodel.cn/api/paas/v4/chat/completions"],
      ["https://gw.example/v1beta/openai", "https://gw.example/v1beta/openai/chat/completions"],
      ["https://api.perplexity.ai/chat/completions", "https://api.perplexity.ai/chat/completions"],
      ["https://gw.example/llm?team=a", "https://gw.example/llm/v1/chat/completions?team=a"],
    ] as const
  ) assert.equal(chatUrl(base), url);
});

Deno.test("a name below providers defines a server only if it has a kind; the name of a built-in provider never defines a server", async () => {
  const settings = {
    providers: {
      lab: { kind: "openai_chat" },
      anthropic: { kind: "openai_chat" },
      nothing: { base_url: "http://x" },
    },
  } as const;
  assert.ok(providerNames(settings).includes("lab"));
  assert.ok(!providerNames(settings).includes("nothing"));
  assert.deepEqual(knownProvider("lab", settings)?.keyVariables, ["LAB_API_KEY"]);
  assert.equal(knownProvider("nothing", settings), null);
  const own = await getProvider("lab", settings);
  assert.ok(own.ok && own.value.name === "lab" && own.value.defaultModel === null);
  const built = await getProvider("anthropic", settings);
  assert.ok(built.ok && built.value.defaultModel !== null);
  const slip = await getProvider("lap", settings);
  assert.ok(!slip.ok && slip.problem.next === "Did you mean lab?");
  const far = await getProvider("something else", settings);
  assert.ok(!far.ok && /providers.NAME.kind/.test(far.problem.next ?? ""));
});

Deno.test("the person's own servers share the parameters of openai_chat, and built-in providers have their own", () => {
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    parameters: {
      ...DEFAULT_SETTINGS.parameters,
      openai_chat: { max_tokens: 77 },
      openai: { max_tokens: 88 },
    },
    providers: { lab: { kind: "openai_chat" }, openai: { kind: "openai_chat" } },
  };
  assert.equal(resolveParameters(settings, "lab").maxTokens, 77);
  assert.equal(resolveParameters(settings, "openai_chat").maxTokens, 77);
  assert.equal(resolveParameters(settings, "openai").maxTokens, 88);
  assert.equal(resolveParameters(settings, "unknown").maxTokens, "50%");
});

Deno.test("a provider's own thinking setting replaces the general setting only if its value is valid", async () => {
  const loaded = await loadSettingsLayers({ environment: AT_HOME, noConfig: true });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const { settings } = loaded.value;
  const resolve = (foreign: "preserve" | "drop", own: unknown) =>
    resolveParameters({
      ...settings,
      parameters: {
        ...settings.parameters,
        thinking: { level: "medium", foreign },
        openai: { ...settings.parameters.openai, thinking: own },
      } as typeof settings.parameters,
    }, "openai").thinking;
  for (const level of ["minimal", "low", "medium", "high", "max", 2048, false] as const) {
    assert.deepEqual(resolve("drop", level), { level, foreign: "drop" });
    assert.deepEqual(resolve("drop", { level }), { level, foreign: "drop" });
  }
  for (const level of ["none", true, null]) {
    assert.deepEqual(resolve("drop", level), { level: "medium", foreign: "drop" });
    assert.deepEqual(resolve("drop", { level }), { level: "medium", foreign: "drop" });
  }
  assert.deepEqual(resolve("drop", { foreign: "preserve" }), { level: "medium", foreign: "preserve" });
  assert.deepEqual(resolve("preserve", { foreign: "drop" }), { level: "medium", foreign: "drop" });
  for (const foreign of ["keep", null, true]) {
    assert.deepEqual(resolve("drop", { foreign }), { level: "medium", foreign: "drop" });
    assert.deepEqual(resolve("preserve", { foreign }), { level: "medium", foreign: "preserve" });
  }
});

Deno.test("the key of the person's own server is not given to tools once settings name the server", async () => {
  const loaded = await loadSettingsLayers({
    environment: AT_HOME,
    noConfig: true,
    overrides: { providers: { "my-lab": { kind: "openai_chat" } } },
  });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  assert.deepEqual(loaded.value.settings.tools.env.keys, ["MY_LAB_API_KEY"]);
});

Deno.test("if there is a key for a person's own server it is sent, and otherwise the request has no key", async () => {
  const settings = { providers: { lab: { kind: "openai_chat" } } } as const;
  const provider = knownProvider("lab", settings)!;
  const own = await getProvider("lab", settings);
  assert.ok(own.ok);
  for (const [variables, header] of [[{}, undefined], [{ LAB_API_KEY: "k1" }, "Bearer k1"]] as const) {
    const credential = await resolveCredential({ provider, environment: { ...AT_HOME, variables } });
    assert.ok(credential.ok);
    const prompt = await evaluateChat(parse(new TextEncoder().encode("@You:\nhi\n")), {
      document: null,
      environment: AT_HOME,
    });
    const { request } = own.value.buildRequest({
      prompt,
      tools: [],
      settings: { ...DEFAULT_SETTINGS, ...settings, model: "m" },
      cacheKey: null,
      key: credential.value.secret,
      baseUrl: "http://lab:1",
      day: "2026-11-28",
    });
    assert.equal(request.headers.authorization, header);
  }
});

Deno.test("a key that no header can contain is refused even for a server that needs no key", async () => {
  const provider = knownProvider("openai_chat")!;
  const answer = await resolveCredential({
    provider,
    environment: { ...AT_HOME, variables: { OPENAI_CHAT_API_KEY: "two words" } },
  });
  assert.ok(!answer.ok && answer.problem.code === "credential-invalid");
});

Deno.test("the settings know the variables of every vendor, so that no tool gets a vendor's key", () => {
  const table = Object.entries(VENDORS).map(([name, { keyVariables }]) => [name, keyVariables]);
  assert.deepEqual(VENDOR_KEYS, Object.fromEntries(table));
});
