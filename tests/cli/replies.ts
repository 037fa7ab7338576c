// A server on loopback that answers requests of the Anthropic protocol with prepared replies, in order.

export interface Reply {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Events of a stream. */
  readonly events?: readonly Record<string, unknown>[];
  /** Close the connection before the last events. */
  readonly cut?: boolean;
  /** Keep the connection open before the last events, until the client goes away. */
  readonly hang?: boolean;
}

export interface Server {
  readonly env: Readonly<Record<string, string>>;
  /** Bodies of all requests so far. */
  readonly requests: readonly Record<string, unknown>[];
  /** Settles when so many replies have begun. */
  received(count: number): Promise<void>;
}

/** A streamed reply of one text. */
export function textReply(text: string): Reply {
  return { events: message([{ type: "text", text }]) };
}

/** A streamed reply of a text and one bash call, with another text behind it if there is one. */
export function callReply(id: string, command: string, behind?: string): Reply {
  return {
    events: message([
      { type: "text", text: "I will." },
      { type: "tool_use", id, name: "bash", input: JSON.stringify({ command, timeout: null }) },
      ...(behind === undefined ? [] : [{ type: "text", text: behind } as const]),
    ]),
  };
}

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: string };

function message(blocks: readonly Block[]): Record<string, unknown>[] {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const inner = blocks.flatMap((block, index) => {
    const start = block.type === "text"
      ? { type: "text", text: "" }
      : { type: "tool_use", id: block.id, name: block.name, input: {} };
    const delta = block.type === "text"
      ? { type: "text_delta", text: block.text }
      : { type: "input_json_delta", partial_json: block.input };
    return [
      { type: "content_block_start", index, content_block: start },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ];
  });
  const stop_reason = blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  return [
    { type: "message_start", message: { id: "m", type: "message", role: "assistant", content: [], usage } },
    ...inner,
    { type: "message_delta", delta: { stop_reason }, usage },
    { type: "message_stop" },
  ];
}

/** Runs `body` while the server answers. */
export async function withServer(
  replies: readonly Reply[],
  body: (server: Server) => Promise<void>,
): Promise<void> {
  const requests: Record<string, unknown>[] = [];
  const waiting: (() => void)[] = [];
  const shutdown = new AbortController();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    requests.push(await request.json());
    const reply = replies[requests.length - 1];
    for (const tell of waiting) tell();
    if (reply?.events === undefined) {
      return new Response(reply?.body ?? "no reply left", {
        status: reply?.status ?? 500,
        headers: reply?.headers,
      });
    }
    const partial = reply.cut || reply.hang;
    const events = partial ? reply.events.slice(0, -3) : reply.events;
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(text));
        if (reply.hang) shutdown.signal.addEventListener("abort", () => closeQuietly(controller));
        else controller.close();
      },
    });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  });
  try {
    await body({
      env: { FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}` },
      requests,
      received: (count) =>
        new Promise((done) => {
          const look = () => requests.length >= count && done();
          waiting.push(look);
          look();
        }),
    });
  } finally {
    shutdown.abort();
    await server.shutdown();
  }
}

function closeQuietly(controller: ReadableStreamDefaultController): void {
  try {
    controller.close();
  } catch (thrown) {
    // The client has gone away already, which is what the test wanted to see.
    if (!(thrown instanceof TypeError)) throw thrown;
  }
}

/** A streamed reply with one call of edit. */
export function editReply(id: string, path: string, oldText: string, newText: string): Reply {
  const input = JSON.stringify({ path, oldText, newText });
  return { events: message([{ type: "tool_use", id, name: "edit", input }]) };
}
