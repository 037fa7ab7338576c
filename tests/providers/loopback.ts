// A real HTTP server on loopback that answers with given bytes, split into chunks or cut off.

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  /** Bytes per chunk; whole when absent. */
  readonly chunk?: number;
  /** Break the connection after the body instead of ending it. */
  readonly reset?: boolean;
  /** Keep the connection open after the body, until the client goes. */
  readonly hang?: boolean;
  /** Settles before the part of the body that begins at `pauseAt` is sent. */
  readonly pause?: { readonly at: number; readonly until: Promise<void> };
}

export interface Loopback {
  readonly url: string;
  readonly requests: { readonly path: string; readonly headers: Headers; readonly body: string }[];
  close(): Promise<void>;
}

/** Serves the answer that `answer` gives for each request. */
export function serve(answer: (body: string) => Answer): Loopback {
  const requests: Loopback["requests"] = [];
  const server = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen() {},
    onError: () => new Response("cut", { status: 500 }),
  }, async (request) => {
    const body = await request.text();
    requests.push({ path: new URL(request.url).pathname, headers: request.headers, body });
    const { status = 200, headers = {}, ...rest } = answer(body);
    return new Response(stream(rest), { status, headers });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    close: () => server.shutdown(),
  };
}

function stream(answer: Omit<Answer, "status" | "headers">): ReadableStream<Uint8Array> {
  const bytes = typeof answer.body === "string" ? new TextEncoder().encode(answer.body) : answer.body;
  const size = answer.chunk ?? Math.max(1, bytes.length);
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      if (answer.pause !== undefined && at >= answer.pause.at) await answer.pause.until;
      if (at < bytes.length) {
        controller.enqueue(bytes.slice(at, at + size));
        at += size;
        return;
      }
      if (answer.hang) return await new Promise<void>(() => {});
      if (answer.reset) controller.error(new Error("cut on purpose"));
      else controller.close();
    },
  });
}
