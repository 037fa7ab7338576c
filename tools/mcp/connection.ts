// One server while it is connected: started or dialled, asked for its tools, called. The official client is loaded here.

import type { Client } from "./client.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import type { McpServer } from "../../config/settings.ts";
import { type Piped, PipeTransport } from "./pipes.ts";

/** A tool as its server describes it. */
export interface ServerTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** What a connection needs of its host. */
export interface ConnectionHost {
  readonly version: string;
  /** Folders that the server may know of, as addresses. */
  readonly roots: readonly string[];
  /** Starts the program of a server. */
  spawn(server: McpServer): Promise<Outcome<Piped>>;
  readonly fetch?: typeof fetch;
  /** Told that the list of its tools is another one now. */
  onListChanged?(): void;
}

/** Tools that a server may list; what lists more has no end. */
const MOST_TOOLS = 1000;

/** A connection that stands. */
export class Connection {
  readonly #client: Client;
  readonly #transport: { readonly said?: string };
  /** Whether it has ended by itself. */
  ended = false;

  private constructor(client: Client, transport: { readonly said?: string }) {
    this.#client = client;
    this.#transport = transport;
    client.onclose = () => this.ended = true;
  }

  /** Connects within so many seconds. Fails with `mcp-unreachable`, in words of the server where it said something. */
  static async open(
    name: string,
    server: McpServer,
    host: ConnectionHost,
    seconds: number,
  ): Promise<Outcome<Connection>> {
    const sdk = await import("./client.ts");
    const client = new sdk.Client({ name: "flemma", version: host.version }, {
      capabilities: { roots: {} },
    });
    const roots = host.roots.map((uri) => ({ uri }));
    client.setRequestHandler(sdk.ListRootsRequestSchema, () => ({ roots }));
    client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => host.onListChanged?.());
    const transport = await transportOf(server, host);
    if (!transport.ok) return transport;
    const connection = new Connection(client, transport.value as { readonly said?: string });
    try {
      await client.connect(transport.value, { timeout: seconds * 1000 });
      return success(connection);
    } catch (thrown) {
      await transport.value.close().catch(() => {});
      return failure(
        "mcp-unreachable",
        `The server ${name} did not start: ${connection.#why(thrown)}`,
        !server.command ? "Check its address and headers." : "Try its command by hand.",
      );
    }
  }

  /** All tools that it lists. */
  async tools(seconds: number): Promise<ServerTool[]> {
    const tools: ServerTool[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#client.listTools({ cursor }, { timeout: seconds * 1000 });
      tools.push(...page.tools as ServerTool[]);
      cursor = page.nextCursor;
    } while (cursor !== undefined && tools.length < MOST_TOOLS);
    return tools;
  }

  /** Calls a tool; cancelled by the signal. Rejects with what went wrong on the way. */
  async call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    options: { readonly seconds: number; readonly signal: AbortSignal; onProgress(text: string): void },
  ): Promise<unknown> {
    const { CompatibilityCallToolResultSchema } = await import("./client.ts");
    try {
      return await this.#client.callTool({ name, arguments: input }, CompatibilityCallToolResultSchema, {
        timeout: options.seconds * 1000,
        signal: options.signal,
        onprogress: ({ progress, total, message }: Progress) =>
          options.onProgress(
            `${message ?? "progress"} ${progress}${total === undefined ? "" : `/${total}`}\n`,
          ),
      });
    } catch (thrown) {
      throw new Error(this.#why(thrown), { cause: thrown });
    }
  }

  async close(): Promise<void> {
    await this.#client.close().catch(() => {});
  }

  #why(thrown: unknown): string {
    const said = (this.#transport.said ?? "").trim().split("\n").slice(-3).join(" ");
    return `${thrownText(thrown).replace(/\.$/, "")}.${said === "" ? "" : ` It said: ${said}`}`;
  }
}

/** What a server tells while a call runs. */
interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

async function transportOf(server: McpServer, host: ConnectionHost) {
  if (server.url) {
    const { StreamableHTTPClientTransport } = await import("./client.ts");
    return success(
      new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: { ...server.headers } },
        fetch: host.fetch,
      }),
    );
  }
  const started = await host.spawn(server);
  return started.ok ? success(new PipeTransport(started.value)) : started;
}
