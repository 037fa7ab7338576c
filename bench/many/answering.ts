// A local server with Anthropic's API: it answers live requests and batches alike, and counts tokens and the cache as the
// API documents them, at four bytes for a token.

import { isObject } from "../../base/is_object.ts";

type Json = Readonly<Record<string, unknown>>;

/** The words of a message to which the model replies with calls first. */
export const WITH_CALLS = "Use the calculator twice.";

/** Requests of a conversation with calls. */
export const REQUESTS_WITH_CALLS = 3;

const OUTPUT_TOKENS = 60;

export interface AnsweringServer extends AsyncDisposable {
  readonly url: string;
  /** Requests answered so far. */
  readonly count: number;
}

/** Starts the server, whose cache is empty. */
export function startAnswering(): AnsweringServer {
  const cache: Cache = new Map();
  const batches = new Map<string, string>();
  let count = 0;
  const reply = (body: Json, isBatched: boolean): Json => {
    count++;
    return messageFor(body, usageOf(body, cache, isBatched));
  };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === "POST" && pathname === "/v1/messages") {
      return new Response(streamOf(reply(await request.json(), false)), {
        headers: { "content-type": "text/event-stream" },
      });
    }
    if (request.method === "POST") {
      const { requests } = await request.json();
      const id = `msgbatch_${batches.size}`;
      const rows = requests.map(({ custom_id, params }: { custom_id: string; params: Json }) =>
        JSON.stringify({ custom_id, result: { type: "succeeded", message: reply(params, true) } })
      );
      batches.set(id, `${rows.join("\n")}\n`);
      return Response.json({ id, processing_status: "in_progress" });
    }
    const [, id = "", results] = /^\/v1\/messages\/batches\/([^/]+)(\/results)?$/.exec(pathname) ?? [];
    return results === undefined
      ? Response.json({ id, processing_status: "ended" })
      : new Response(batches.get(id) ?? "");
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    get count() {
      return count;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Beginnings of requests, by their length. */
type Cache = Map<number, Set<string>>;

/** Counts a request. Live, it reads the longest beginning that an earlier one has cached. */
function usageOf(body: Json, cache: Cache, isBatched: boolean): Json {
  const tools = withoutMarks(body.tools ?? []);
  // Without its last bracket, the list of messages is the beginning of a longer one.
  const text = `${tools}${withoutMarks(body.system ?? "")}${withoutMarks(body.messages).slice(0, -1)}`;
  const ends = [
    ...(JSON.stringify(body.tools ?? []).includes(MARK) ? [tools.length] : []),
    ...(MARK_NAME in body ? [text.length] : []),
  ];
  const lengths = isBatched ? [] : [...cache.keys()];
  const read = Math.max(0, ...lengths.filter((length) => cache.get(length)!.has(text.slice(0, length))));
  for (const length of ends) {
    cache.set(length, (cache.get(length) ?? new Set()).add(text.slice(0, length)));
  }
  const marked = Math.max(read, ...ends);
  return {
    input_tokens: tokensIn(text.length - marked),
    cache_read_input_tokens: tokensIn(read),
    cache_creation_input_tokens: tokensIn(marked - read),
    output_tokens: OUTPUT_TOKENS,
  };
}

/** Marks the end of a beginning that the API caches; on the request itself, its end. */
const MARK_NAME = "cache_control";
const MARK = `"${MARK_NAME}":`;

function withoutMarks(value: unknown): string {
  return JSON.stringify(value, (name, member) => name === MARK_NAME ? undefined : member);
}

function tokensIn(length: number): number {
  return Math.round(length / 4);
}

function messageFor(body: Json, usage: Json): Json {
  const messages = JSON.stringify(body.messages);
  const done = messages.split('"type":"tool_result"').length - 1;
  const call = {
    type: "tool_use",
    id: `toolu_${done}`,
    name: "calculator",
    input: { expression: `${done}+1` },
  };
  const isLast = done + 1 >= REQUESTS_WITH_CALLS || !messages.includes(WITH_CALLS);
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: body.model,
    content: isLast ? [{ type: "text", text: "An answer." }] : [call],
    stop_reason: isLast ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage,
  };
}

/** Returns the stream of a whole message. */
function streamOf({ content, stop_reason, usage, ...message }: Json): string {
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const events = [
    { type: "message_start", message: { ...message, content: [], usage } },
    ...blocks.flatMap((block, index) => [
      {
        type: "content_block_start",
        index,
        content_block: block.type === "text" ? { ...block, text: "" } : { ...block, input: {} },
      },
      {
        type: "content_block_delta",
        index,
        delta: block.type === "text"
          ? { type: "text_delta", text: block.text }
          : { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
      },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: OUTPUT_TOKENS } },
    { type: "message_stop" },
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}
