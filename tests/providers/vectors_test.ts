import assert from "node:assert/strict";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import { dryRun } from "../../cycle/send/request.ts";
import { createSend } from "../../cycle/send/send.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { Settings } from "../../config/settings.ts";
import { parse } from "../../parser/mod.ts";
import { findModel, pricesAt } from "../../providers/models/find.ts";
import { anthropic } from "../../providers/anthropic/provider.ts";
import { costOf, promptTokens } from "../../providers/usage.ts";
import type { OfferedTool } from "../../providers/types.ts";
import { refusals } from "../../providers/replay/rules.ts";
import { serve } from "./loopback.ts";

const FOLDER = new URL("../vectors/providers/anthropic/", import.meta.url);

interface RequestVector {
  readonly kind: "request";
  readonly model: string;
  readonly document_file: string;
  readonly document_path: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly tools: readonly OfferedTool[];
  readonly files: Readonly<Record<string, string>>;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly top_level_key_order: readonly string[];
  readonly compare?: { readonly trim_text?: boolean };
}

interface StreamVector {
  readonly kind: "stream";
  readonly model: string;
  readonly document_before: string;
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body_file: string;
    readonly transport: "complete" | "reset";
  };
  readonly outcome: string;
  readonly document_after: string;
  readonly usage: unknown;
  readonly cost: Readonly<Record<string, number>> | null;
  readonly error:
    | { readonly message?: string; readonly class: string; readonly details?: readonly string[] }
    | null;
  readonly warnings: readonly string[];
  readonly policy?: string;
}

const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) =>
  name.endsWith(".expect.json")
).sort();

function load(name: string): RequestVector | StreamVector {
  return JSON.parse(Deno.readTextFileSync(new URL(name, FOLDER)));
}

function settingsWith(model: string, parameters: Readonly<Record<string, unknown>>): Settings {
  const { thinking, ...rest } = parameters;
  const level = thinking === undefined
    ? {}
    : { thinking: { ...DEFAULT_SETTINGS.parameters.thinking, level: thinking } };
  const merged = { ...DEFAULT_SETTINGS.parameters, ...rest, ...level } as Settings["parameters"];
  // The vectors of requests with text files have the bare text of the older program.
  return {
    ...DEFAULT_SETTINGS,
    model,
    parameters: merged,
    files: { ...DEFAULT_SETTINGS.files, names: false },
  };
}

/** Keys are sorted at every depth of what we build, tool inputs keep the model's own order ("Settled" 2). */
function assertSorted(value: unknown, path: string): void {
  if (Array.isArray(value)) value.forEach((item, index) => assertSorted(item, `${path}[${index}]`));
  else if (typeof value === "object" && value !== null) {
    const keys = Object.keys(value);
    assert.deepEqual(keys, [...keys].sort(), path);
    for (const [key, member] of Object.entries(value)) {
      if (key !== "input") assertSorted(member, `${path}.${key}`);
    }
  }
}

function trimTexts(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value),
    (key, member) => key === "text" && typeof member === "string" ? member.trim() : member,
  );
}

/** A share of the output limit of Sonnet 4.6, which is 128,000 tokens and not 64,000 as the vectors have it. */
const HALF = { max_tokens: 64_000 };

/** Members of request bodies that are others now. */
const CHANGED_BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "request-basic": HALF,
  "request-aborted": HALF,
  "request-media": HALF,
};

for (const name of names) {
  const vector = load(name);
  if (vector.kind === "request") {
    Deno.test(`anthropic request: ${name}`, async () => {
      const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-provider-" }));
      try {
        for (const [file, base64] of Object.entries(vector.files)) {
          await Deno.mkdir(`${folder}/${file}`.replace(/\/[^/]*$/, ""), { recursive: true });
          await Deno.writeFile(`${folder}/${file}`, Uint8Array.fromBase64(base64));
        }
        const prepared = await dryRun({
          chat: parse(Deno.readFileSync(new URL(vector.document_file, FOLDER))),
          document: `${folder}/talk.chat`,
          settings: settingsWith(vector.model, vector.parameters),
          environment: { cwd: folder, home: folder, variables: {} },
          provider: anthropic,
          tools: vector.tools,
        });
        assert.ok(prepared.kind === "ready");
        const { request } = prepared;
        assert.equal(request.method, vector.method);
        assert.equal(request.url, vector.url);
        for (const [header, value] of Object.entries(vector.headers)) {
          assert.equal(request.headers[header], value === "KEY" ? "[hidden]" : value, header);
        }
        const body = JSON.parse(request.body);
        const trim = vector.compare?.trim_text ? trimTexts : (value: unknown) => value;
        const expected = { ...vector.body, ...CHANGED_BODIES[name.replace(".expect.json", "")] };
        assert.deepEqual(trim(body), trim(expected));
        assert.deepEqual(Object.keys(body), vector.top_level_key_order);
        for (const [key, member] of Object.entries(body)) assertSorted(member, key);
        assert.equal(request.body, JSON.stringify(body), "nothing but compact JSON");
        assert.deepEqual(refusals(request.body, body), [], "the strict server takes it");
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    });
  }
}

interface Change {
  readonly document_after?: string;
  readonly error?: { readonly message?: string; readonly class: string };
  readonly outcome?: string;
}

const TAY = "@You:\nWhere does the river Tay begin?\n";
const FILES = "@You:\nCompare the two files.\n";

/** Expectations that decisions changed, each with its reason. */
const CHANGED: Readonly<Record<string, Change>> = {
  // S14: a reply cut short by an error ends with an abort marker, whatever the error.
  "error-mid-stream": {
    document_after:
      `${TAY}\n@Assistant:\nIt rises\n\n<!-- flemma:aborted: api_error — Internal server error -->\n`,
  },
  // S14, and "Settled" 6: a stream without its closing event is an error of class network.
  "network-drop": {
    document_after: `${TAY}\n@Assistant:\nIt rises on Ben\n\n<!-- flemma:aborted: MESSAGE -->\n`,
    error: { class: "network" },
  },
  // "Settled" 1: a failed send with nothing received leaves the document byte-identical.
  "overloaded-event": { document_after: TAY },
  "rate-limit-429": { document_after: TAY },
  // The same; and the class says what it is (the vector has the ancestor's policy, which knows none).
  "invalid-key": {
    document_after: TAY,
    error: { message: "authentication_error — invalid x-api-key", class: "authentication" },
  },
  // "Settled" 4: thinking stands where it occurred in the stream, one block per content block.
  "interleaved-thinking": {
    document_after:
      `${TAY}\n@Assistant:\n<thinking anthropic:signature="c2lnQQ==">\none\n</thinking>\n\nFirst.\n\n` +
      `<thinking anthropic:signature="c2lnQg==">\ntwo\n</thinking>\n\n**Tool Use:** \`bash\` (\`toolu_5a\`)\n\n` +
      '```json\n{"command":"ls"}\n```\n\n@You:\n\n',
  },
  "redacted-thinking": {
    document_after:
      `${TAY}\n@Assistant:\n<thinking redacted>\nUkVEQUNURUQtQkxPQg==\n</thinking>\n\nDone.\n\n@You:\n\n`,
  },
  // The same, and blanks at the ends of signed thinking count.
  "thinking-signature": {
    document_after:
      `${TAY}\n@Assistant:\n<thinking anthropic:signature="Zm9vYmFyMQ==">\nThe Tay is in Perthshire.\n` +
      "Its headwater is the Allt Coire Laoigh.\n\n</thinking>\n\nBen Lui.\n\n@You:\n\n",
  },
  "tool-first-with-thinking": {
    document_after:
      `${FILES}\n@Assistant:\n<thinking anthropic:signature="c2lnLTE=">\nList first.\n</thinking>\n\n` +
      '**Tool Use:** `bash` (`toolu_1c`)\n\n```json\n{"command":"ls"}\n```\n\n@You:\n\n',
  },
  // What came before a refusal must not be gone on from, so it is marked like any reply that broke off.
  "refusal": {
    document_after:
      `${TAY}\n@Assistant:\n<thinking anthropic:signature="c2lnUg==">\nhm\n</thinking>\n\nI\n\n` +
      "<!-- flemma:aborted: Response blocked by Anthropic (refusal) -->\n",
    error: { message: "Response blocked by Anthropic (refusal)", class: "blocked" },
  },
};

for (const name of names) {
  const vector = load(name);
  if (vector.kind !== "stream") continue;
  for (const chunk of [1, 7, undefined]) {
    Deno.test(`anthropic stream over HTTP in chunks of ${chunk ?? "any size"}: ${name}`, async () => {
      const { response } = vector;
      const server = serve(() => ({
        status: response.status,
        headers: response.headers,
        body: Deno.readFileSync(new URL(response.body_file, FOLDER)),
        chunk,
        reset: response.transport === "reset",
      }));
      try {
        const store = new MemoryStore(new TextEncoder().encode(vector.document_before), null);
        const events: CycleEvent[] = [];
        const send = createSend({
          store,
          settings: settingsWith(vector.model, {}),
          environment: {
            cwd: "/",
            home: "/",
            variables: { ANTHROPIC_API_KEY: "KEY", FLEMMA_ANTHROPIC_BASE_URL: server.url },
          },
          provider: anthropic,
          tools: () => [],
          emit: (event) => events.push(event),
          retry: false,
        });
        const outcome = await send(new AbortController().signal);
        const change = CHANGED[name.replace(".expect.json", "")] ?? {};
        const expected = { ...vector, ...change };
        const after = new TextDecoder().decode(store.chat.bytes);
        const message = outcome.kind === "failed" ? outcome.problem.message : "";
        assert.equal(after, expected.document_after.replace("MESSAGE", message));
        const finished = events.find((event) => event.event === "request:finished");
        if (expected.error === null) {
          assert.ok(outcome.kind === "completed");
          assert.deepEqual(outcome.usage, vector.usage);
          assert.equal(outcome.warnings.length, vector.warnings.length);
          const usage = outcome.usage!;
          const model = findModel("anthropic", vector.model)!;
          const prices = pricesAt(model, "2026-11-28", promptTokens(usage))!;
          const cost = costOf(usage, prices, { outputIncludesThoughts: true });
          for (const [part, dollars] of Object.entries(vector.cost ?? {})) {
            assert.ok(Math.abs(cost[part as keyof typeof cost] - dollars) < 1e-12, part);
          }
        } else {
          assert.ok(outcome.kind === "failed");
          assert.ok(finished?.event === "request:finished" && finished.status === "errored");
          assert.equal(finished.error?.class, expected.error.class);
          if (expected.error.message !== undefined) assert.equal(message, expected.error.message);
          assert.deepEqual(finished.error?.details, vector.error?.details ?? []);
        }
        assert.equal(server.requests.length, 1);
        assert.equal(server.requests[0]!.path, "/v1/messages");
        assert.equal(server.requests[0]!.headers.get("x-api-key"), "KEY");
      } finally {
        await server.close();
      }
    });
  }
}
