// The same content as each provider streams it, for tests of one fault with all of them.

/** One event: its data, and its name where the API gives events one. */
export interface Frame {
  readonly event?: string;
  readonly data: string;
}

export interface StreamDialect {
  readonly provider: string;
  readonly model: string;
  /** The variable with the key, and settings that it cannot do without. */
  readonly keyVariable: string;
  begin(): readonly Frame[];
  text(words: string): readonly Frame[];
  /** A call; `pieces` are what its input comes in. */
  call(call: {
    readonly id: string | undefined;
    readonly index: number;
    readonly pieces: readonly string[];
    /** The input as an object in place of text, where the API has such a place. */
    readonly object?: Readonly<Record<string, unknown>>;
  }): readonly Frame[];
  /** The beginning of a call that is never ended. */
  halfCall(piece: string): readonly Frame[];
  end(reason: "normal" | "calls" | "limit" | "blocked"): readonly Frame[];
  error(message: string): readonly Frame[];
  /** An event of a kind that the API has not had so far. */
  unknown(): readonly Frame[];
  /** The body of an answer that refuses. */
  refusal(message: string): unknown;
}

const json = (value: unknown): Frame => ({ data: JSON.stringify(value) });
const named = (value: { readonly type: string } & Readonly<Record<string, unknown>>): Frame => ({
  event: value.type,
  data: JSON.stringify(value),
});

const ANTHROPIC: StreamDialect = {
  provider: "anthropic",
  model: "claude-sonnet-5-5",
  keyVariable: "ANTHROPIC_API_KEY",
  begin:
    () => [named({ type: "message_start", message: { id: "m", role: "assistant", content: [], usage: {} } })],
  text: (text) => [
    named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    named({ type: "content_block_stop", index: 0 }),
  ],
  call: ({ id, index, pieces, object }) => [
    named({
      type: "content_block_start",
      index: index + 1,
      content_block: { type: "tool_use", id, name: "bash", input: object ?? {} },
    }),
    ...pieces.map((partial_json) =>
      named({
        type: "content_block_delta",
        index: index + 1,
        delta: { type: "input_json_delta", partial_json },
      })
    ),
    named({ type: "content_block_stop", index: index + 1 }),
  ],
  halfCall: (partial_json) => [
    named({
      type: "content_block_start",
      index: 1,
      content_block: { type: "tool_use", id: "c1", name: "bash", input: {} },
    }),
    named({ type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json } }),
  ],
  end: (reason) => [
    named({
      type: "message_delta",
      delta: {
        stop_reason:
          { normal: "end_turn", calls: "tool_use", limit: "max_tokens", blocked: "refusal" }[reason],
      },
      usage: { output_tokens: 1 },
    }),
    named({ type: "message_stop" }),
  ],
  error: (message) => [named({ type: "error", error: { type: "api_error", message } })],
  unknown: () => [named({ type: "weather_report", sky: "blue" })],
  refusal: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
};

const OPENAI: StreamDialect = {
  provider: "openai",
  model: "gpt-6.1-sol",
  keyVariable: "OPENAI_API_KEY",
  begin: () => [named({ type: "response.created", response: { id: "r", error: null } })],
  text: (text) => [
    named({
      type: "response.output_item.added",
      output_index: 0,
      item: { id: "m", type: "message", content: [] },
    }),
    named({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta: text }),
    named({ type: "response.output_text.done", output_index: 0, content_index: 0, text }),
    named({
      type: "response.output_item.done",
      output_index: 0,
      item: { id: "m", type: "message", content: [{ type: "output_text", text }] },
    }),
  ],
  call: ({ id, index, pieces, object }) => [
    named({
      type: "response.output_item.added",
      output_index: index + 1,
      item: { type: "function_call", call_id: id, name: "bash", arguments: "" },
    }),
    ...pieces.map((delta) =>
      named({ type: "response.function_call_arguments.delta", output_index: index + 1, delta })
    ),
    named({
      type: "response.output_item.done",
      output_index: index + 1,
      item: {
        type: "function_call",
        status: "completed",
        call_id: id,
        name: "bash",
        arguments: object ?? pieces.join(""),
      },
    }),
  ],
  halfCall: (delta) => [
    named({
      type: "response.output_item.added",
      output_index: 1,
      item: { type: "function_call", call_id: "c1", name: "bash", arguments: "" },
    }),
    named({ type: "response.function_call_arguments.delta", output_index: 1, delta }),
  ],
  end: (reason) => {
    const why = { limit: "max_output_tokens", blocked: "content_filter" }[reason as string];
    return [named(
      why === undefined
        ? { type: "response.completed", response: { id: "r", status: "completed", usage: {} } }
        : { type: "response.incomplete", response: { id: "r", incomplete_details: { reason: why } } },
    )];
  },
  error: (
    message,
  ) => [named({ type: "response.failed", response: { error: { code: "server_error", message } } })],
  unknown: () => [named({ type: "response.weather.delta", delta: "blue" })],
  refusal: (message) => ({ error: { message, type: "invalid_request_error", code: null } }),
};

const GEMINI: StreamDialect = {
  provider: "gemini",
  model: "gemini-3.8-flash",
  keyVariable: "GEMINI_API_KEY",
  begin: () => [],
  text: (text) => [json({ candidates: [{ content: { role: "model", parts: [{ text }] } }] })],
  call: ({ id, pieces, object }) => [
    json({
      candidates: [{
        content: {
          parts: [{ functionCall: { id, name: "bash", args: object ?? JSON.parse(pieces.join("")) } }],
        },
      }],
    }),
  ],
  // A call comes whole here; what can be cut is the event itself.
  halfCall: (
    piece,
  ) => [{ data: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"bash","args":${piece}` }],
  end: (reason) => [
    json({
      candidates: [{
        finishReason: { normal: "STOP", calls: "STOP", limit: "MAX_TOKENS", blocked: "SAFETY" }[reason],
      }],
      usageMetadata: { promptTokenCount: 1 },
    }),
  ],
  error: (message) => [json({ error: { code: 500, message, status: "INTERNAL" } })],
  unknown: () => [json({ candidates: [{ content: { parts: [{ weather: { sky: "blue" } }] } }] })],
  refusal: (message) => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }),
};

function chat(provider: string, model: string, keyVariable: string): StreamDialect {
  const chunk = (delta: unknown, finish_reason: string | null = null) =>
    json({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
  return {
    provider,
    model,
    keyVariable,
    begin: () => [chunk({ role: "assistant", content: "" })],
    text: (content) => [chunk({ content })],
    call: ({ id, index, pieces, object }) => [
      chunk({
        tool_calls: [{
          index,
          id,
          type: "function",
          function: { name: "bash", arguments: object ?? (pieces.length === 1 ? pieces[0] : "") },
        }],
      }),
      ...(pieces.length === 1 || object !== undefined ? [] : pieces).map((piece) =>
        chunk({ tool_calls: [{ index, function: { arguments: piece } }] })
      ),
    ],
    halfCall: (piece) => [
      chunk({
        tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "bash", arguments: piece } }],
      }),
    ],
    end: (reason) => [
      chunk({}, { normal: "stop", calls: "tool_calls", limit: "length", blocked: "content_filter" }[reason]),
      json({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }),
      { data: "[DONE]" },
    ],
    error: (message) => [json({ error: { message, type: "server_error" } })],
    unknown: () => [json({ object: "weather.report", sky: "blue" })],
    refusal: (message) => ({ error: { message, type: "invalid_request_error" } }),
  };
}

export const DIALECTS: readonly StreamDialect[] = [
  ANTHROPIC,
  OPENAI,
  GEMINI,
  chat("moonshot", "kimi-k3.1-pro", "MOONSHOT_API_KEY"),
  chat("openai_chat", "qwen3", "OPENAI_CHAT_API_KEY"),
];

/** Frames as an event stream. */
export function stream(
  frames: readonly Frame[],
  { eol = "\n", space = " ", between = "" }: { eol?: string; space?: string; between?: string } = {},
): string {
  return frames.map(({ event, data }) => {
    const lines = data.split("\n").map((line) => `data:${space}${line}${eol}`).join("");
    return `${event === undefined ? "" : `event:${space}${event}${eol}`}${lines}${eol}${between}`;
  }).join("");
}
