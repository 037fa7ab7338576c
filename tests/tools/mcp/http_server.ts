// MCP servers over HTTP on loopback: the SDK's own with sessions, and ones that answer as a test says.

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/** A request as a server saw it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  /** Method of the message in its body. */
  readonly asks: string | undefined;
}

/** A server that listens. */
export interface Listening {
  readonly url: string;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
}

/** Listens on loopback and answers as it is told. */
export function listen(
  answer: (request: Request, message: Message) => Response | Promise<Response>,
  path = "/mcp",
): Listening {
  const seen: Seen[] = [];
  const stop = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen() {} },
    async (request) => {
      const body = request.method === "POST" ? await request.clone().text() : "";
      const message: Message = body === "" ? {} : JSON.parse(body);
      const { method, headers, url } = request;
      seen.push({ method, headers, path: new URL(url).pathname, asks: message.method });
      return await answer(request, message);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}${path}`,
    seen,
    close: async () => {
      stop.abort();
      await server.finished;
    },
  };
}

/** A message in a body. */
export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly protocolVersion?: string };
}

/** The SDK's server with a session for each client. */
export interface Sessions extends Listening {
  /** How often each tool was called. */
  readonly calls: Record<string, number>;
  /** Loses all sessions, as one that was started anew has. */
  forget(): Promise<void>;
}

/** Starts it. Its tools: `echo`; `grow`, after which there is one more. */
export function serveSessions(): Sessions {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const calls: Record<string, number> = {};
  const open = async () => {
    const names = ["echo", "grow"];
    const server = new Server({ name: "x", version: "1" }, {
      capabilities: { tools: { listChanged: true } },
    });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: names.map((name) => ({ name, inputSchema: { type: "object" as const } })),
    }));
    server.setRequestHandler(
      CallToolRequestSchema,
      async ({ params: { name } }: { params: { name: string } }) => {
        calls[name] = (calls[name] ?? 0) + 1;
        if (name === "grow") {
          names.push("grown");
          await server.sendToolListChanged();
        }
        return { content: [{ type: "text", text: `${name} over HTTP` }] };
      },
    );
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id: string) => void sessions.set(id, transport),
      onsessionclosed: (id: string) => void sessions.delete(id),
    });
    await server.connect(transport);
    return transport;
  };
  const listening = listen(async (request, message) => {
    const id = request.headers.get("mcp-session-id");
    const known = id === null ? undefined : sessions.get(id);
    if (known !== undefined) return await known.handleRequest(request);
    if (id !== null) return new Response("no such session", { status: 404 });
    return message.method === "initialize"
      ? await (await open()).handleRequest(request)
      : new Response("no session", { status: 400 });
  });
  const forget = async () => {
    for (const transport of sessions.values()) await transport.close();
    sessions.clear();
  };
  return {
    ...listening,
    calls,
    forget,
    close: async () => {
      await forget();
      await listening.close();
    },
  };
}

/** Does what must be done until a tool is called; `call` answers that. */
export function untilCall(call: (message: Message, request: Request) => Response) {
  return (request: Request, message: Message): Response => {
    const { id, method, params } = message;
    if (request.method !== "POST") return new Response(null, { status: 405 });
    if (id === undefined) return new Response(null, { status: 202 });
    const result = (value: object) => Response.json({ jsonrpc: "2.0", id, result: value });
    if (method === "initialize") {
      return result({
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "x", version: "1" },
      });
    }
    if (method === "server/discover") {
      return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } });
    }
    if (method === "tools/list") return result({ tools: [{ name: "do", inputSchema: { type: "object" } }] });
    return call(message, request);
  };
}
