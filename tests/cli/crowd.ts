// A test server for many documents that counts the requests it has in parallel.

const KEY = { ANTHROPIC_API_KEY: "test-key" };

/** A server that answers every request, and knows how many it had at a time. */
export interface Crowd {
  readonly env: Readonly<Record<string, string>>;
  /** Requests that were answered, by the text of their last message. */
  readonly answered: string[];
  readonly most: number;
  readonly refused: number;
}

/** What a crowd has come to. */
interface Count {
  running: number;
  most: number;
  refused: number;
  answered: number;
}

/**
 * Runs `body` while a server answers. Replies are held back as long as `hold` says, so that what happens at a time is
 * no matter of speed; more than `limit` at a time are refused.
 */
export async function withCrowd(
  { limit = Infinity, hold = () => false }: {
    readonly limit?: number;
    readonly hold?: (count: Count) => boolean;
  },
  body: (crowd: Crowd) => Promise<void>,
): Promise<void> {
  const answered: string[] = [];
  const count: Count = { running: 0, most: 0, refused: 0, answered: 0 };
  const retained = new Set<() => void>();
  const look = () => {
    if (hold(count)) return;
    for (const go of retained) go();
    retained.clear();
  };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { messages } = await request.json();
    if (count.running >= limit) {
      count.refused++;
      look();
      return Response.json(
        { type: "error", error: { type: "rate_limit_error", message: "Too many requests at a time" } },
        { status: 429, headers: { "retry-after-ms": "20" } },
      );
    }
    count.running++;
    count.most = Math.max(count.most, count.running);
    await new Promise<void>((go) => {
      retained.add(go);
      look();
    });
    count.running--;
    count.answered++;
    answered.push(JSON.stringify(messages.at(-1).content));
    return new Response(STREAM, { headers: { "content-type": "text/event-stream" } });
  });
  try {
    await body({
      env: { ...KEY, FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}` },
      answered,
      get most() {
        return count.most;
      },
      get refused() {
        return count.refused;
      },
    });
  } finally {
    await server.shutdown();
  }
}

const STREAM = [
  { type: "message_start", message: { usage: { input_tokens: 10 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "An answer." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
  { type: "message_stop" },
].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
