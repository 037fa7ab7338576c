// Claude and OpenAI's models in clouds, by entries of the settings: exact paths, one header with the key, deployment
// names, errors in the clouds' shapes.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { findModel, pricesAt } from "../../providers/models/find.ts";
import { replyFrames as messageFrames } from "../../providers/replay/frames.ts";
import { replyFrames as responseFrames } from "../../providers/replay/openai/frames.ts";
import type { Asked } from "../../providers/replay/dialect.ts";
import { getProvider } from "../../providers/registry.ts";
import { build } from "./built_request.ts";
import { sendOnce } from "./send_once.ts";

const AUTH = ["authorization", "x-api-key", "api-key"];

interface Cloud {
  /** The only path that it serves. */
  readonly path: string;
  /** The only header that it takes a key from, and the keys that it accepts. */
  readonly header: string;
  readonly keys: readonly string[];
  /** Names of its models or deployments. */
  readonly models: readonly string[];
  /** Headers that must have these values. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True if it refuses every beta header. */
  readonly withoutBetas?: boolean;
  readonly frames: (asked: Asked) => readonly string[];
}

const MESSAGE = () => messageFrames({ reply: [{ text: "hello" }] }, "claude", {});
const RESPONSE = (asked: Asked) => responseFrames({ reply: [{ text: "hello" }] }, asked, 1);

/** Starts a server that is as strict as the vendors' pages; each refusal is in the shape of the vendor. */
function startCloud(cloud: Cloud) {
  const asked: Request[] = [];
  const bodies: Record<string, unknown>[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    asked.push(request);
    const text = await request.text();
    const body = JSON.parse(text);
    bodies.push(body);
    const { pathname, search } = new URL(request.url);
    if (pathname !== cloud.path || search !== "") {
      return Response.json({ error: { code: "404", message: "Resource not found" } }, { status: 404 });
    }
    const sent = AUTH.filter((name) => request.headers.has(name));
    const key = request.headers.get(cloud.header)?.replace(/^Bearer /, "");
    if (sent.length !== 1 || key === undefined || !cloud.keys.includes(key)) {
      return Response.json({ message: "The security token included in the request is expired" }, {
        status: 403,
      });
    }
    if (!cloud.models.includes(String(body.model))) {
      const message = "The API deployment for this resource does not exist.";
      return Response.json({ error: { code: "DeploymentNotFound", message } }, { status: 404 });
    }
    for (const [name, value] of Object.entries(cloud.headers ?? {})) {
      if (request.headers.get(name) !== value) {
        return Response.json({ message: `${name}: unexpected value` }, { status: 400 });
      }
    }
    if (cloud.withoutBetas === true && request.headers.has("anthropic-beta")) {
      return Response.json({ message: "invalid beta flag" }, { status: 400 });
    }
    const frames = cloud.frames({ path: pathname, text, body, headers: request.headers });
    return new Response(frames.join(""), { headers: { "content-type": "text/event-stream" } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    asked,
    bodies,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

type Way = readonly [name: string, base: string, entry: Settings["providers"][string], cloud: Cloud];

const BEDROCK: Cloud = {
  path: "/anthropic/v1/messages",
  header: "authorization",
  keys: ["aws-1"],
  models: ["anthropic.claude-sonnet-5-5"],
  headers: { "anthropic-version": "2023-06-01" },
  frames: MESSAGE,
};

const WAYS: readonly Way[] = [
  ["Bedrock", "/anthropic", { kind: "anthropic", auth: "bearer", key_env: ["CLOUD_KEY"] }, BEDROCK],
  ["Bedrock with a version of the API", "/anthropic", {
    kind: "anthropic",
    auth: "bearer",
    key_env: ["CLOUD_KEY"],
    api_version: "2026-10-21",
  }, { ...BEDROCK, headers: { "anthropic-version": "2026-10-21" } }],
  ["Bedrock for OpenAI's models", "/openai/v1", { kind: "openai", key_env: ["CLOUD_KEY"] }, {
    path: "/openai/v1/responses",
    header: "authorization",
    keys: ["aws-1"],
    models: ["openai.gpt-6-sol"],
    frames: RESPONSE,
  }],
  ["Foundry", "/anthropic", { kind: "anthropic", key_env: ["CLOUD_KEY"] }, {
    ...BEDROCK,
    header: "x-api-key",
    models: ["my-deployment"],
  }],
  ["Azure OpenAI", "/openai/v1", { kind: "openai", auth: "api-key", key_env: ["CLOUD_KEY"] }, {
    path: "/openai/v1/responses",
    header: "api-key",
    keys: ["aws-1"],
    models: ["my-deployment"],
    frames: RESPONSE,
  }],
];

const ASK = "@You:\nhi\n";
const KEY = { CLOUD_KEY: "aws-1", ANTHROPIC_API_KEY: "not this", OPENAI_API_KEY: "nor this" };

for (const [name, base, entry, cloud] of WAYS) {
  Deno.test(`${name} answers a request of an entry in the settings`, async () => {
    await using server = startCloud(cloud);
    const providers = { cloud: { ...entry, base_url: `${server.url}${base}` } };
    const [model = ""] = cloud.models;
    const { outcome, after } = await sendOnce(ASK, {
      provider: "cloud",
      model,
      url: "",
      providers,
      variables: KEY,
    });
    assert.equal(outcome.kind, "completed", JSON.stringify(outcome));
    assert.match(after, /^@Assistant:\nhello$/m);
    assert.equal(server.asked.length, 1);
  });

  Deno.test(`${name} names what to check for a wrong deployment, a wrong path and a wrong key`, async () => {
    await using server = startCloud(cloud);
    const send = async (options: { model?: string; base?: string; variables?: Record<string, string> }) => {
      const { outcome } = await sendOnce(ASK, {
        provider: "cloud",
        model: options.model ?? cloud.models[0]!,
        url: "",
        providers: { cloud: { ...entry, base_url: `${server.url}${options.base ?? base}` } },
        variables: options.variables ?? KEY,
      });
      assert.ok(outcome.kind === "failed");
      return outcome.problem.next ?? "";
    };
    assert.match(
      await send({ model: "other" }),
      /model name \(flemma models list cloud\)\. If you set a base URL, check also the URL, its region and the deployment/,
    );
    assert.match(await send({ base: "/wrong" }), /check also the URL, its region/);
    assert.match(
      await send({ variables: { CLOUD_KEY: "old" } }),
      /^Check the key in the variable CLOUD_KEY\./,
    );
  });
}

Deno.test("a temporary key is retrieved again once after it was refused, and the request succeeds with the new one", async () => {
  await using server = startCloud({ ...BEDROCK, keys: ["key-2"] });
  const folder = await Deno.makeTempDir();
  try {
    const count = `${folder}/count`;
    const command = `echo x >> '${count}'; echo key-$(wc -l < '${count}' | tr -d ' ')`;
    const providers = {
      cloud: { kind: "anthropic", auth: "bearer", base_url: `${server.url}/anthropic`, key_command: command },
    } as const;
    const options = {
      provider: "cloud",
      model: BEDROCK.models[0]!,
      url: "",
      providers,
      variables: { PATH: Deno.env.get("PATH")! },
    };
    const { outcome, after } = await sendOnce(ASK, options);
    assert.equal(outcome.kind, "completed", JSON.stringify(outcome));
    assert.equal(after.match(/^@Assistant:$/gm)?.length, 1);
    assert.deepEqual(server.asked.map(({ headers }) => headers.get("authorization")), [
      "Bearer key-1",
      "Bearer key-2",
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a key that stays the same is not sent again after it was refused, and the error names its source and age", async () => {
  await using server = startCloud({ ...BEDROCK, keys: ["other"] });
  const providers = {
    cloud: {
      kind: "anthropic",
      auth: "bearer",
      base_url: `${server.url}/anthropic`,
      key_command: "echo same",
    },
  } as const;
  const options = {
    provider: "cloud",
    model: BEDROCK.models[0]!,
    url: "",
    providers,
    variables: { PATH: Deno.env.get("PATH")! },
  };
  const { outcome, after } = await sendOnce(ASK, options);
  assert.ok(outcome.kind === "failed");
  assert.equal(after, ASK);
  assert.equal(server.asked.length, 1);
  assert.equal(outcome.problem.next, "Check the key from providers.cloud.key_command (0 minutes old).");
});

Deno.test("a cloud that refuses beta headers gets the request again without them", async () => {
  await using server = startCloud({ ...BEDROCK, withoutBetas: true });
  const signed =
    '@You:\nhi\n@Assistant:\n<thinking cloud:signature="c2ln">\nhm\n</thinking>\nhello\n@You:\nmore\n';
  const providers = {
    cloud: {
      kind: "anthropic",
      auth: "bearer",
      base_url: `${server.url}/anthropic`,
      key_env: ["CLOUD_KEY"],
      models: { "anthropic.claude-sonnet-5-5": { like: "claude-sonnet-5-5" } },
    },
  } as const;
  const { outcome } = await sendOnce(signed, {
    provider: "cloud",
    model: BEDROCK.models[0]!,
    url: "",
    providers,
    variables: KEY,
  });
  assert.equal(outcome.kind, "completed", JSON.stringify(outcome));
  assert.deepEqual(server.asked.map(({ headers }) => headers.has("anthropic-beta")), [true, false]);
  assert.match(JSON.stringify(server.bodies[1]), /"signature":"c2ln"/);
});

Deno.test("thinking of Anthropic itself goes to a cloud as text, because its signature is of another account", async () => {
  const document =
    '@You:\nhi\n@Assistant:\n<thinking anthropic:signature="c2ln">\nhm\n</thinking>\nhello\n@You:\nmore\n';
  for (const kind of ["anthropic", "openai"] as const) {
    const entry = { kind, base_url: "https://cloud.example", key_env: ["CLOUD_KEY"] };
    const built = await build("cloud", { model: "claude-sonnet-5-5", entry, variables: KEY, document });
    assert.match(built.text, /<thinking>\\nhm\\n<\/thinking>/);
    assert.doesNotMatch(built.text, /c2ln/);
  }
});

Deno.test("a version of the API without sampling gets no temperature, and the person is informed", async () => {
  const entry = { kind: "anthropic", base_url: "https://cloud.example", key_env: ["CLOUD_KEY"] } as const;
  const parameters = { temperature: 0.5, thinking: { level: false, foreign: "preserve" } };
  const options = { model: "some-model", variables: KEY, parameters };
  assert.equal((await build("cloud", { ...options, entry })).body.temperature, 0.5);
  const newer = await build("cloud", { ...options, entry: { ...entry, api_version: "2026-10-21" } });
  assert.equal(newer.body.temperature, undefined);
  assert.equal(newer.headers["anthropic-version"], "2026-10-21");
  const settings = { ...DEFAULT_SETTINGS, provider: "cloud", providers: { cloud: entry } };
  assert.ok((await getProvider("cloud", settings)).ok);
});

Deno.test("a Claude model is recognized by its name in a cloud, so that it gets what all Claude models accept", async () => {
  const entry = { kind: "anthropic", base_url: "https://cloud.example", key_env: ["CLOUD_KEY"] } as const;
  for (
    const model of [
      "anthropic.claude-opus-9",
      "us.anthropic.claude-opus-9",
      "global.anthropic.claude-opus-9",
      "claude-opus-9",
    ]
  ) {
    const built = await build("cloud", { model, entry, variables: KEY, parameters: { temperature: 0.5 } });
    assert.equal(built.body.thinking?.type, "adaptive", model);
    assert.equal(built.body.temperature, undefined, model);
  }
  for (const model of ["my-deployment", "not-claude-1", "claudette"]) {
    const built = await build("cloud", { model, entry, variables: KEY });
    assert.equal(built.body.thinking, undefined, model);
  }
});

Deno.test("what is known of a model holds for an entry of its maker's API, except prices and dates", () => {
  const providers: Settings["providers"] = {
    cloud: { kind: "anthropic", models: { "my-deployment": { like: "claude-sonnet-5-5" } } },
    azure: { kind: "openai" },
    chat: { kind: "openai_chat" },
    openai: { kind: "anthropic" },
  };
  const known = findModel("anthropic", "claude-sonnet-5-5")!;
  const same = findModel("cloud", "claude-sonnet-5-5", { providers })!;
  assert.deepEqual([same.context, same.thinking, same.refuses, same.prefixCheck], [
    known.context,
    known.thinking,
    known.refuses,
    known.prefixCheck,
  ]);
  assert.equal(pricesAt(same, "2026-11-28", 0), null);
  const named = findModel("cloud", "my-deployment", { providers })!;
  assert.deepEqual(pricesAt(named, "2026-11-28", 0), pricesAt(known, "2026-11-28", 0));
  assert.equal(findModel("azure", "gpt-4o", { providers })?.ends, undefined);
  assert.equal(findModel("azure", "claude-sonnet-5-5", { providers }), null);
  assert.equal(findModel("chat", "gpt-4o", { providers }), null);
  assert.equal(findModel("openai", "claude-sonnet-5-5", { providers }), null);
});

Deno.test("an entry's own beta header is joined with the program's, and its other headers go along", async () => {
  const document =
    '@You:\nhi\n@Assistant:\n<thinking cloud:signature="c2ln">\nhm\n</thinking>\nhello\n@You:\nmore\n';
  const entry = {
    kind: "anthropic",
    base_url: "https://cloud.example",
    key_env: ["CLOUD_KEY"],
    headers: { "Anthropic-Beta": "my-beta", "x-team": "a" },
  } as const;
  const built = await build("cloud", { model: "claude-sonnet-5-5", entry, variables: KEY, document });
  assert.match(built.headers["anthropic-beta"] ?? "", /^my-beta,thinking-binding-controls-/);
  assert.equal(built.headers["x-team"], "a");
});
