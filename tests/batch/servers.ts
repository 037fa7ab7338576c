// Strict servers for batches: Anthropic, OpenAI, Gemini and a vendor of OpenAI's shape, on loopback. They refuse what the
// APIs refuse, count what they are asked, and end a batch only after so many looks at it.

import { isObject } from "../../base/is_object.ts";
import { REFUSALS, StrictMessages } from "../../providers/replay/strict/mod.ts";

export type Shape = "anthropic" | "openai" | "gemini" | "vendor";

type Json = Readonly<Record<string, unknown>>;

/** What the model answers to a request. */
export type Answer =
  /** With `isPaused`, the provider interrupts the reply and wants it back (Anthropic). */
  | { readonly text: string; readonly isPaused?: boolean }
  | { readonly tool: string; readonly input: Json; readonly text?: string; readonly thinking?: string }
  | { readonly error: string }
  | { readonly expired: true };

/** A request of a batch. */
export interface Asked {
  /** The words of the person's first message. */
  readonly question: string;
  /** How many results of calls the request has. */
  readonly results: number;
  readonly body: Json;
}

export interface ServerOptions {
  readonly answer: (asked: Asked) => Answer;
  /** Looks at a batch before it has ended. @default 0 */
  readonly looks?: number;
  /** Looks that fail before the first one that is answered. @default 0 */
  readonly failures?: number;
  /** Returns how the creation of a batch goes: `lost` does it, but cuts the connection. @default every one is made */
  readonly creation?: (number: number) => "made" | "lost" | "refused";
  /** True to leave the last request out of the results of the first look. @default false */
  readonly forgets?: boolean;
  /** True to end a batch as expired. @default false */
  readonly expires?: boolean;
  /** False to leave all batches out of the list (OpenAI). @default true */
  readonly isListed?: boolean;
  /** True to name a file for the results (Gemini). @default the results are inline */
  readonly file?: boolean;
  /** Number of a request that makes the whole batch fail (OpenAI). @default none */
  readonly faulty?: number;
}

interface Batch {
  readonly id: string;
  readonly entries: readonly { readonly item: string; readonly body: Json; readonly answer: Answer }[];
  readonly created: string;
  readonly mark: string;
  readonly file: string;
  looks: number;
  canceled: boolean;
}

const KEY = "test-key";

/** The environment variable and setting with which the program reaches a server of each shape. */
const PLACES: Readonly<
  Record<Shape, { readonly provider: string; readonly model: string; readonly path: string }>
> = {
  anthropic: { provider: "anthropic", model: "claude-sonnet-5-5", path: "" },
  openai: { provider: "openai", model: "gpt-5.4", path: "" },
  gemini: { provider: "gemini", model: "gemini-3.1-pro-preview", path: "" },
  vendor: { provider: "acme", model: "acme-large", path: "/v1" },
};

export class BatchServer {
  readonly batches: Batch[] = [];
  /** Every request that a batch was created with. Each one is paid for. */
  readonly paid: Asked[] = [];
  /** Messages of refusals. */
  readonly refused: string[] = [];
  /** Looks, results and other requests, by method and path. */
  readonly log: string[] = [];
  readonly deleted: string[] = [];
  readonly #shape: Shape;
  readonly #options: ServerOptions;
  readonly #files = new Map<string, string>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #strict = new StrictMessages({ id: "account" }, false);
  /** How results are answered: `cut` breaks the connection, `deleted` no longer has them. */
  results: "whole" | "cut" | "deleted" = "whole";
  /** True to know none of the batches any more. */
  isForgetful = false;
  #failures: number;
  #made = 0;

  constructor(shape: Shape, options: ServerOptions) {
    this.#shape = shape;
    this.#options = options;
    this.#failures = options.failures ?? 0;
    this.#server = Deno.serve({
      port: 0,
      hostname: "127.0.0.1",
      onListen() {},
      onError: () => new Response(null, { status: 500 }),
    }, (request) => this.#answer(request));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Settings with which the program sends its requests here. */
  get settings(): string {
    const { provider, model, path } = PLACES[this.#shape];
    const kind = this.#shape === "vendor" ? ", kind: openai_chat" : "";
    return `provider: ${provider}\nmodel: ${model}\nproviders: { ${provider}: { base_url: "${this.url}${path}"${kind} } }\n`;
  }

  get env(): Readonly<Record<string, string>> {
    return {
      [this.#shape === "vendor" ? "ACME_API_KEY" : `${PLACES[this.#shape].provider.toUpperCase()}_API_KEY`]:
        KEY,
    };
  }

  /** Makes the next looks fail. */
  failing(looks: number): void {
    this.#failures = looks;
  }

  async close(): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname: path, searchParams } = new URL(request.url);
    const { method, headers } = request;
    this.log.push(`${method} ${path}`);
    const key = headers.get("x-api-key") ?? headers.get("x-goog-api-key") ??
      headers.get("authorization")?.replace("Bearer ", "");
    if (key !== KEY) return this.#refuse(401, "invalid key");
    if (this.#shape === "anthropic" && !headers.has("anthropic-version")) {
      return this.#refuse(400, "anthropic-version: header is required");
    }
    if (method === "GET" && this.#failures > 0) {
      this.#failures--;
      return new Response("overloaded", { status: 529 });
    }
    if (this.isForgetful) return this.#refuse(404, "no such batch");
    switch (this.#shape) {
      case "anthropic":
        return await this.#anthropic(method, path, request);
      case "gemini":
        return await this.#gemini(method, path, request, searchParams);
      default:
        return await this.#openai(method, path.replace(/^\/v1/, ""), request);
    }
  }

  /** Returns results as a response. */
  #lines(text: string): Response {
    if (this.results === "deleted") return this.#refuse(404, "no such file");
    if (this.results === "whole") return new Response(text);
    const bytes = new TextEncoder().encode(text);
    let isBegun = false;
    const body = new ReadableStream({
      pull(controller) {
        if (isBegun) controller.error(new Error("the connection is cut here"));
        else controller.enqueue(bytes.slice(0, bytes.length - 5));
        isBegun = true;
      },
    });
    return new Response(body);
  }

  #refuse(status: number, message: string): Response {
    this.refused.push(message);
    return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status });
  }

  async #anthropic(method: string, path: string, request: Request): Promise<Response> {
    const root = "/v1/messages/batches";
    if (method === "POST" && path === root) {
      const { requests } = await request.json();
      if (!Array.isArray(requests) || requests.length === 0) return this.#refuse(400, "requests: required");
      const entries = requests.map(({ custom_id: item, params: body }) => ({ item, body }));
      for (const { item, body } of entries) {
        if (!/^[a-zA-Z0-9_-]{1,64}$/.test(item)) return this.#refuse(400, "custom_id: wrong form");
        if ("stream" in body) return this.#refuse(400, "stream: not in a batch");
        const taken = await this.#strict.take({
          path: "/v1/messages",
          text: JSON.stringify({ ...body, stream: true }),
          body: { ...body, stream: true },
          headers: request.headers,
        });
        if ("message" in taken) return this.#refuse(taken.status, taken.message);
      }
      return this.#create(entries, "", (batch) => this.#messageBatch(batch));
    }
    if (method === "GET" && path === root) {
      for (const batch of this.batches) this.#look(batch);
      return Response.json({ data: this.batches.map((batch) => this.#messageBatch(batch)), has_more: false });
    }
    const [, id = "", more = ""] = /^\/v1\/messages\/batches\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    const batch = this.batches.find((one) => one.id === id);
    if (batch === undefined) return this.#refuse(404, "not found");
    if (more === "cancel") batch.canceled = true;
    if (more !== "results") {
      if (more === "") this.#look(batch);
      return Response.json(this.#messageBatch(batch));
    }
    const rows = await Promise.all(
      this.#rows(batch).map(async ({ item, answer, body }) =>
        JSON.stringify({
          custom_id: item,
          result: await this.#messageResult(answer, body),
        })
      ),
    );
    return this.#lines(`${rows.join("\n")}\n`);
  }

  #messageBatch(batch: Batch): Json {
    const isEnded = this.#isEnded(batch);
    const counts = { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 };
    return {
      id: batch.id,
      type: "message_batch",
      processing_status: isEnded ? "ended" : batch.canceled ? "canceling" : "in_progress",
      request_counts: { ...counts, [isEnded ? "succeeded" : "processing"]: batch.entries.length },
      created_at: batch.created,
      // The key must not go there.
      results_url: isEnded ? `http://127.0.0.2:1/${batch.id}` : null,
      archived_at: null,
    };
  }

  async #messageResult(answer: Answer, body: Json): Promise<Json> {
    if ("expired" in answer) return { type: "expired" };
    if ("error" in answer) {
      const error = { type: "invalid_request_error", message: answer.error };
      return { type: "errored", error: { type: "error", error } };
    }
    const content: Json[] = [];
    if ("thinking" in answer && answer.thinking !== undefined) {
      const taken = await this.#strict.take({
        path: "/v1/messages",
        text: JSON.stringify(body),
        body,
        headers: new Headers({ "x-api-key": KEY, "anthropic-version": "2023-06-01" }),
      });
      const signed = "message" in taken ? [] : await taken.sign({ reply: [{ thinking: answer.thinking }] });
      for (const block of signed) {
        if ("thinking" in block) {
          content.push({ type: "thinking", thinking: block.thinking, signature: block.signature });
        }
      }
    }
    if (answer.text !== undefined) content.push({ type: "text", text: answer.text, citations: null });
    const isPaused = "isPaused" in answer && answer.isPaused === true;
    if ("tool" in answer) {
      const [name, input] = [answer.tool, answer.input];
      content.push({
        type: "tool_use",
        id: `toolu_${crypto.randomUUID().slice(0, 8)}`,
        name,
        input,
        caller: null,
      });
    }
    return {
      type: "succeeded",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: body.model,
        content,
        container: null,
        stop_reason: isPaused ? "pause_turn" : "tool" in answer ? "tool_use" : "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 1000, output_tokens: 100, service_tier: "batch" },
      },
    };
  }

  async #openai(method: string, path: string, request: Request): Promise<Response> {
    if (method === "POST" && path === "/files") {
      const form = await request.formData();
      const file = form.get("file");
      if (form.get("purpose") !== "batch" || !(file instanceof File)) {
        return this.#refuse(400, "purpose or file");
      }
      const id = `file-${crypto.randomUUID().slice(0, 8)}`;
      this.#files.set(id, await file.text());
      return Response.json({ id, object: "file" });
    }
    if (method === "DELETE") {
      this.deleted.push(path);
      return Response.json({ deleted: true });
    }
    if (method === "GET" && path.startsWith("/files/")) {
      const [, , id = ""] = path.split("/");
      return this.#lines(this.#files.get(id) ?? "");
    }
    if (method === "GET" && path === "/batches") {
      for (const batch of this.batches) this.#look(batch);
      const listed = this.#options.isListed === false ? [] : this.batches;
      return Response.json({ data: listed.map((batch) => this.#fileBatch(batch)) });
    }
    const endpoint = this.#shape === "vendor" ? "/v1/chat/completions" : "/v1/responses";
    if (method === "POST" && path === "/batches") {
      const { input_file_id: file, endpoint: wanted, completion_window: span, metadata } = await request
        .json();
      if (wanted !== endpoint || span !== "24h") return this.#refuse(400, "endpoint or completion_window");
      const lines = (this.#files.get(file) ?? "").trim().split("\n").map((line) => JSON.parse(line));
      const models = new Set(lines.map(({ body }) => body.model));
      if (models.size !== 1) return this.#refuse(400, "a file must name one model");
      for (const { body, url, method: verb } of lines) {
        if (url !== endpoint || verb !== "POST") return this.#refuse(400, "url of a line");
        if ("stream" in body || "stream_options" in body) return this.#refuse(400, "stream: not in a batch");
        const asked = { path: endpoint, text: JSON.stringify(body), body, headers: request.headers };
        const [broken] = REFUSALS[this.#shape === "vendor" ? "chat" : "openai"](asked);
        if (broken !== undefined) return this.#refuse(400, broken);
      }
      const entries = lines.map(({ custom_id: item, body }) => ({ item, body }));
      return this.#create(entries, metadata.flemma, (batch) => this.#fileBatch(batch), file);
    }
    const [, , id = "", more = ""] = path.split("/");
    const batch = this.batches.find((one) => one.id === id);
    if (batch === undefined) return this.#refuse(404, "not found");
    if (more === "cancel") batch.canceled = true;
    else this.#look(batch);
    return Response.json(this.#fileBatch(batch));
  }

  #fileBatch(batch: Batch): Json {
    const isEnded = this.#isEnded(batch);
    const { faulty } = this.#options;
    if (isEnded && faulty !== undefined) {
      const data = [{ code: "invalid", line: faulty, message: "Bad line" }];
      return { id: batch.id, object: "batch", status: "failed", errors: { object: "list", data } };
    }
    if (isEnded) this.#writeResults(batch);
    const files = isEnded ? { output_file_id: `out-${batch.id}`, error_file_id: `err-${batch.id}` } : {};
    const end = this.#options.expires ? "expired" : batch.canceled ? "cancelled" : "completed";
    return {
      id: batch.id,
      object: "batch",
      status: isEnded ? end : "in_progress",
      input_file_id: batch.file,
      created_at: Math.floor(Date.parse(batch.created) / 1000),
      // The vendor keeps no metadata.
      metadata: this.#shape === "vendor" ? null : { flemma: batch.mark },
      request_counts: { total: batch.entries.length, completed: 0, failed: 0 },
      ...files,
    };
  }

  #writeResults(batch: Batch): void {
    const good: string[] = [];
    const bad: string[] = [];
    for (const { item, answer, body } of this.#rows(batch)) {
      if ("expired" in answer) {
        bad.push(
          JSON.stringify({ custom_id: item, response: null, error: { code: "batch_expired", message: "" } }),
        );
      } else if ("error" in answer) {
        const error = { message: answer.error, type: "invalid_request_error", code: null };
        bad.push(
          JSON.stringify({ custom_id: item, response: { status_code: 400, body: { error } }, error: null }),
        );
      } else {
        const whole = this.#shape === "vendor" ? chatReply(answer, body) : responsesReply(answer, body);
        good.push(
          JSON.stringify({ custom_id: item, response: { status_code: 200, body: whole }, error: null }),
        );
      }
    }
    this.#files.set(`out-${batch.id}`, `${good.join("\n")}\n`);
    this.#files.set(`err-${batch.id}`, `${bad.join("\n")}\n`);
  }

  async #gemini(method: string, path: string, request: Request, _query: URLSearchParams): Promise<Response> {
    const [, model = ""] = /^\/v1beta\/models\/([^/:]+):batchGenerateContent$/.exec(path) ?? [];
    if (method === "POST" && model !== "") {
      const { batch } = await request.json();
      const requests = batch.inputConfig?.requests?.requests;
      if (!Array.isArray(requests)) return this.#refuse(400, "inputConfig");
      for (const { request: body } of requests) {
        const path = `/v1beta/models/${model}:streamGenerateContent`;
        const asked = { path, text: JSON.stringify(body), body, headers: request.headers };
        const [broken] = REFUSALS.google(asked);
        if (broken !== undefined) return this.#refuse(400, broken);
      }
      const entries = requests.map(({ request: body, metadata }) => ({ item: metadata.key, body }));
      return this.#create(entries, batch.displayName, (made) => this.#operation(made));
    }
    if (method === "GET" && path === "/v1beta/batches") {
      return Response.json({ operations: this.batches.map((batch) => this.#operation(batch)) });
    }
    const [, file = ""] = /^\/download\/v1beta\/files\/([^/]+):download$/.exec(path) ?? [];
    if (file !== "") {
      const rows = this.batches.filter(({ id }) => id === file).flatMap((of) => this.#rows(of));
      const lines = rows.map(({ item, answer }) => JSON.stringify({ key: item, ...geminiResult(answer) }));
      return this.#lines(lines.join("\n"));
    }
    const [, id = "", cancels] = /^\/v1beta\/batches\/([^/:]+)(:cancel)?$/.exec(path) ?? [];
    const batch = this.batches.find((one) => one.id === id);
    if (batch === undefined) return this.#refuse(404, "not found");
    if (cancels !== undefined) batch.canceled = true;
    else this.#look(batch);
    return Response.json(this.#operation(batch));
  }

  #operation(batch: Batch): Json {
    const isEnded = this.#isEnded(batch);
    const end = this.#options.expires ? "EXPIRED" : batch.canceled ? "CANCELLED" : "SUCCEEDED";
    const state = `BATCH_STATE_${isEnded ? end : "RUNNING"}`;
    const output = this.#options.file ? { responsesFile: `files/${batch.id}` } : {
      inlinedResponses: {
        inlinedResponses: isEnded
          ? this.#rows(batch).map(({ item, answer }) => ({
            metadata: { key: item },
            ...geminiResult(answer),
          }))
          : [],
      },
    };
    // Both places occur on the wire.
    const place = this.batches.indexOf(batch) % 2 === 0 ? { response: output } : {};
    const metadata = { state, displayName: batch.mark, ...("response" in place ? {} : { output }) };
    return { name: `batches/${batch.id}`, done: isEnded, metadata, ...(isEnded ? place : {}) };
  }

  #create(
    entries: readonly { readonly item: string; readonly body: Json }[],
    mark: string,
    shown: (batch: Batch) => Json,
    file = "",
  ): Response {
    const how = this.#options.creation?.(++this.#made) ?? "made";
    if (how === "refused") return this.#refuse(400, "the batch queue is full");
    const asked = entries.map(({ body }) => askedIn(body));
    this.paid.push(...asked);
    const batch: Batch = {
      id: `batch_${crypto.randomUUID().slice(0, 8)}`,
      entries: entries.map((entry, index) => ({ ...entry, answer: this.#options.answer(asked[index]!) })),
      created: new Date().toISOString(),
      mark,
      file,
      looks: 0,
      canceled: false,
    };
    this.batches.push(batch);
    if (how === "lost") throw new Error("the connection is cut here");
    return Response.json(shown(batch));
  }

  #look(batch: Batch): void {
    batch.looks++;
  }

  #isEnded(batch: Batch): boolean {
    return batch.looks > (this.#options.looks ?? 0);
  }

  /** The entries in the order of the results, which is another one. */
  #rows(batch: Batch): Batch["entries"] {
    const rows = batch.entries.toReversed();
    const isShort = this.#options.forgets === true && batch.looks < 2;
    const some = isShort ? rows.slice(0, -1) : rows;
    return this.#options.expires === true || batch.canceled
      ? some.filter((_, index) => index % 2 === 0)
      : some;
  }
}

/** Returns what a request asks, whatever its API. */
function askedIn(body: Json): Asked {
  const text = JSON.stringify(body);
  const [, question = ""] = /(Question \d+)/.exec(text) ?? [];
  const results =
    text.match(/"(?:tool_result|function_call_output|functionResponse)"|"role":"tool"/g)?.length ?? 0;
  return { question, results, body };
}

type Reply = Extract<Answer, { text?: string }>;

function responsesReply(answer: Reply, body: Json): Json {
  const text = "text" in answer ? answer.text : undefined;
  const output: Json[] = [];
  if (text !== undefined) {
    output.push({
      type: "message",
      id: `msg_${crypto.randomUUID().slice(0, 8)}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    });
  }
  if ("tool" in answer) {
    output.push({
      type: "function_call",
      id: `fc_${crypto.randomUUID().slice(0, 8)}`,
      call_id: `call_${crypto.randomUUID().slice(0, 8)}`,
      name: answer.tool,
      arguments: JSON.stringify(answer.input),
      status: "completed",
    });
  }
  const usage = { input_tokens: 1000, output_tokens: 100, input_tokens_details: { cached_tokens: 0 } };
  return {
    id: "resp_1",
    object: "response",
    status: "completed",
    model: body.model,
    service_tier: "default",
    output,
    usage,
  };
}

function chatReply(answer: Reply, body: Json): Json {
  const calls = "tool" in answer
    ? {
      tool_calls: [{
        id: `call_${crypto.randomUUID().slice(0, 8)}`,
        type: "function",
        function: { name: answer.tool, arguments: JSON.stringify(answer.input) },
      }],
    }
    : {};
  const content = "text" in answer ? answer.text ?? null : null;
  const message = { role: "assistant", content, ...calls };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    model: body.model,
    choices: [{ index: 0, message, finish_reason: "tool" in answer ? "tool_calls" : "stop" }],
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
  };
}

function geminiResult(answer: Answer): Json {
  if ("expired" in answer) return { error: { code: 4, message: "deadline" } };
  if ("error" in answer) return { error: { code: 3, message: answer.error, status: "INVALID_ARGUMENT" } };
  const parts: Json[] = [];
  if (answer.text !== undefined) parts.push({ text: answer.text });
  if ("tool" in answer) {
    parts.push({
      functionCall: { name: answer.tool, args: answer.input },
      thoughtSignature: btoa("signature of a test"),
    });
  }
  return {
    response: {
      candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 },
      modelVersion: "gemini-3.1-pro-preview",
    },
  };
}

/** Runs `body` with a server of a shape. */
export async function withBatchServer(
  shape: Shape,
  options: ServerOptions,
  body: (server: BatchServer) => Promise<void>,
): Promise<void> {
  const server = new BatchServer(shape, options);
  try {
    await body(server);
  } finally {
    await server.close();
  }
}

/** True if a value is an object with this member. */
export function has(value: unknown, name: string): boolean {
  return isObject(value) && name in value;
}
