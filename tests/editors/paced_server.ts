// A server on loopback that streams replies at the test's pace: it stops where the script says so, until it is
// resumed.

import type { Server } from "../cli/replies.ts";

/** What a reply is made of: pieces of text, places where it stops until somebody lets it go on, calls; or a refusal. */
export type Part =
  | string
  | { readonly wait: true }
  | { readonly refusal: string }
  | { readonly id: string; readonly name: string; readonly input: Readonly<Record<string, unknown>> };

export const WAIT: Part = { wait: true };

export interface PacedServer extends Pick<Server, "env" | "requests"> {
  /** Lets replies go on past the place where one stops, or will stop next. */
  goOn(): void;
}

type Event = Readonly<Record<string, unknown>>;

/** Runs `body` while the server answers with these replies, in order. */
export async function withPacedServer(
  replies: readonly (readonly Part[])[],
  body: (server: PacedServer) => Promise<void>,
): Promise<void> {
  const requests: Record<string, unknown>[] = [];
  const pace = new Pace();
  const shutdown = new AbortController();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    requests.push(await request.json());
    const reply = replies[requests.length - 1];
    if (reply === undefined) return new Response("no reply left", { status: 500 });
    const [first] = reply;
    if (typeof first === "object" && "refusal" in first) {
      const error = { type: "authentication_error", message: first.refusal };
      return Response.json({ type: "error", error }, { status: 401 });
    }
    return new Response(streamOf(reply, pace, shutdown.signal), {
      headers: { "content-type": "text/event-stream" },
    });
  });
  const env = {
    ANTHROPIC_API_KEY: "test-key",
    FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
  };
  try {
    await body({ env, requests, goOn: () => pace.goOn() });
  } finally {
    shutdown.abort();
    await server.shutdown();
  }
}

/** Permits to go on: each is used once, whether it was there before somebody waits for it or not. */
class Pace {
  #permits = 0;
  readonly #waiting: (() => void)[] = [];

  goOn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#permits++;
    else next();
  }

  async wait(signal: AbortSignal): Promise<void> {
    if (this.#permits > 0) {
      this.#permits--;
      return;
    }
    await new Promise<void>((done) => {
      this.#waiting.push(done);
      signal.addEventListener("abort", () => done(), { once: true });
    });
  }
}

function streamOf(reply: readonly Part[], pace: Pace, signal: AbortSignal): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const either = AbortSignal.any([signal, gone.signal]);
  return new ReadableStream({
    async start(controller) {
      try {
        for await (const event of eventsOf(reply, pace, either)) {
          if (either.aborted) return;
          controller.enqueue(
            new TextEncoder().encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
          );
        }
        controller.close();
      } catch (thrown) {
        if (!either.aborted) throw thrown;
      }
    },
    cancel() {
      gone.abort();
    },
  });
}

async function* eventsOf(reply: readonly Part[], pace: Pace, signal: AbortSignal): AsyncGenerator<Event> {
  const usage = { input_tokens: 1000, output_tokens: 20 };
  const start = { id: "m", type: "message", role: "assistant", content: [], usage };
  yield { type: "message_start", message: start };
  let index = 0;
  let open = false;
  for (const part of reply) {
    if (typeof part === "string") {
      if (!open) {
        yield { type: "content_block_start", index, content_block: { type: "text", text: "" } };
      }
      open = true;
      yield { type: "content_block_delta", index, delta: { type: "text_delta", text: part } };
    } else if ("wait" in part) await pace.wait(signal);
    else if ("refusal" in part) throw new Error("a refusal is the first part of a reply");
    else {
      if (open) yield { type: "content_block_stop", index: index++ };
      open = false;
      const { id, name, input } = part;
      yield { type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } };
      const partial_json = JSON.stringify(input);
      yield { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } };
      yield { type: "content_block_stop", index: index++ };
    }
  }
  if (open) yield { type: "content_block_stop", index };
  const calls = reply.some((part) => typeof part !== "string" && "id" in part);
  yield { type: "message_delta", delta: { stop_reason: calls ? "tool_use" : "end_turn" }, usage };
  yield { type: "message_stop" };
}
