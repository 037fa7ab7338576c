// A connection to one MCP server: starts or dials it, lists its tools, calls them. Loads the official client.

import type { Transport } from "npm:@modelcontextprotocol/sdk@1.32.2/shared/transport.js";
import type { Client } from "./client.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { McpServer } from "../../config/settings.generated.ts";
import { faultOf, type McpFault, statusOf } from "./faults.ts";
import { guardedFetch } from "./http.ts";
import { type Piped, PipeTransport } from "./pipes.ts";

/** Services that a connection needs from its host. */
export interface ConnectionHost {
  readonly version: string;
  /** Folders that the server may know, as URLs. */
  readonly roots: readonly string[];
  /** True if started programs run in the sandbox. */
  readonly confined: boolean;
  /** Starts the program of a server. */
  spawn(server: McpServer): Promise<Outcome<Piped>>;
  /** Returns the network access to a URL. */
  network(url: string): Promise<Outcome<McpNetwork>>;
  /** Called when the server's tool list has changed. */
  onListChanged?(): void;
}

/** How to make requests to a server over HTTP. */
export interface McpNetwork {
  readonly fetch: typeof fetch;
  close(): void;
}

/** Options of a call. */
export interface CallOptions {
  /** How long the server may be silent, in seconds; each progress message restarts the time. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  onProgress(text: string): void;
}

/** Outcome of a call: the server's answer, its refusal in its own words, or a connection failure. */
export type CallOutcome =
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "silent"; readonly why: string }
  | { readonly kind: "lost"; readonly fault: McpFault; readonly forgotten: boolean };

/** Maximum number of tools of a server; a longer list is assumed to be endless. */
const MOST_TOOLS = 1000;
/** Milliseconds for ending a session, or for a ping. */
const GRACE = 1000;

/** Protocol error codes that this program creates. */
const CONNECTION_CLOSED = -32000;
const REQUEST_TIMEOUT = -32001;

/** An open connection. */
export class Connection {
  readonly #name: string;
  readonly #server: McpServer;
  readonly #client: Client;
  readonly #way: Way;
  readonly #confined: boolean;
  /** True if the connection ended without being closed by this program. */
  ended = false;

  private constructor(name: string, server: McpServer, client: Client, way: Way, confined: boolean) {
    this.#name = name;
    this.#server = server;
    this.#client = client;
    this.#way = way;
    this.#confined = confined;
    client.onclose = () => this.ended = true;
  }

  /**
   * Connects to a server within a number of seconds. Fails with `mcp-unreachable`; the message contains the error
   * output of the server, if there is any.
   *
   * @param signal ends the waiting
   */
  static async open(
    name: string,
    server: McpServer,
    host: ConnectionHost,
    { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
  ): Promise<Outcome<Connection>> {
    const sdk = await import("./client.ts");
    const client = new sdk.Client({ name: "flemma", version: host.version }, { capabilities: { roots: {} } });
    const roots = host.roots.map((uri) => ({ uri }));
    client.setRequestHandler(sdk.ListRootsRequestSchema, () => ({ roots }));
    client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => host.onListChanged?.());
    const found = await wayTo(server, host);
    if (!found.ok) return found;
    const way = found.value;
    const connection = new Connection(name, server, client, way, host.confined);
    const giveUp = () => void way.transport.close();
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      if (signal.aborted) throw signal.reason;
      await client.connect(way.transport, { timeout: seconds * 1000 });
      return success(connection);
    } catch (thrown) {
      await way.transport.close().catch(() => {});
      way.end();
      const { why, next } = faultOf(thrown, connection.#place);
      return failure("mcp-unreachable", `The MCP server ${name} did not start: ${why}`, next);
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  /** Returns all tools of the server, exactly as the server lists them. Throws on failure. */
  async tools(seconds: number): Promise<unknown[]> {
    const { ResultSchema } = await import("./client.ts");
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    const tools: unknown[] = [];
    const seen = new Set<unknown>();
    let cursor: unknown;
    do {
      const request = { method: "tools/list", params: typeof cursor === "string" ? { cursor } : {} };
      const page = await this.#client.request(request, ResultSchema, { timeout: seconds * 1000 });
      if (Array.isArray(page.tools)) tools.push(...page.tools);
      cursor = page.nextCursor;
      // A server that repeats a cursor would make this loop endless.
      if (seen.has(cursor)) break;
      seen.add(cursor);
    } while (cursor !== undefined && cursor !== null && tools.length < MOST_TOOLS);
    return tools.slice(0, MOST_TOOLS);
  }

  /** Calls a tool; the signal cancels the call. */
  async call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<CallOutcome> {
    const { ResultSchema } = await import("./client.ts");
    // The client never stops listening to the signal it gets. With the signal of the call, it would also cancel
    // requests that have ended, so each request gets its own signal.
    const stop = new AbortController();
    const cancel = () => stop.abort(options.signal.reason);
    if (options.signal.aborted) cancel();
    options.signal.addEventListener("abort", cancel, { once: true });
    try {
      const request = { method: "tools/call", params: { name, arguments: input } };
      const answer = await this.#client.request(request, ResultSchema, {
        timeout: options.seconds * 1000,
        resetTimeoutOnProgress: true,
        signal: stop.signal,
        onprogress: (progress: Progress) => options.onProgress(`${wordsOf(progress)}\n`),
      });
      return { kind: "answer", answer };
    } catch (thrown) {
      const code = codeOf(thrown);
      if (code === REQUEST_TIMEOUT) {
        return { kind: "silent", why: `it sent nothing for ${options.seconds} s` };
      }
      if (code !== null && code !== CONNECTION_CLOSED) {
        return { kind: "refused", why: faultOf(thrown, { ...this.#place, stderr: "" }).why };
      }
      return { kind: "lost", fault: faultOf(thrown, this.#place), forgotten: statusOf(thrown) === 404 };
    } finally {
      options.signal.removeEventListener("abort", cancel);
    }
  }

  /** Describes an error that `tools` threw. */
  faultOf(thrown: unknown): McpFault {
    return faultOf(thrown, this.#place);
  }

  /** True if the server still answers. */
  async lives(): Promise<boolean> {
    try {
      await this.#client.ping({ timeout: GRACE });
      return true;
    } catch {
      return false;
    }
  }

  /** Ends the session, as far as the server responds, and closes the connection. */
  async close(): Promise<void> {
    if (!this.ended) await this.#way.leave();
    // A failure to close does not matter any more.
    await this.#client.close().catch(() => {});
    this.#way.end();
  }

  get #place() {
    return {
      name: this.#name,
      server: this.#server,
      stderr: this.#way.transport.stderr,
      broke: this.#way.transport.broke,
      setupFailure: this.#way.transport.setupFailure,
      confined: this.#confined,
    };
  }
}

/** The protocol code of an error; null if it has none. */
function codeOf(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || thrown.name !== "McpError") return null;
  const { code } = thrown as { readonly code?: unknown };
  return typeof code === "number" ? code : null;
}

/** Progress that a server reports during a call. */
interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

function wordsOf({ progress, total, message }: Progress): string {
  return `${message ?? "progress"} ${progress}${total === undefined ? "" : `/${total}`}`;
}

/** Transport of messages to a server and back. */
interface Way {
  readonly transport: Transport & {
    readonly stderr?: string;
    readonly broke?: string | undefined;
    readonly setupFailure?: Problem | null;
  };
  /** Tells the server that the session has ended. */
  leave(): Promise<void>;
  /** Releases the resources of the transport. */
  end(): void;
}

async function wayTo(server: McpServer, host: ConnectionHost): Promise<Outcome<Way>> {
  if (!server.url) {
    const started = await host.spawn(server);
    if (!started.ok) return started;
    return success({ transport: new PipeTransport(started.value), leave: () => Promise.resolve(), end() {} });
  }
  const network = await host.network(server.url);
  if (!network.ok) return network;
  const { StreamableHTTPClientTransport } = await import("./client.ts");
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { ...server.headers } },
    fetch: guardedFetch(network.value.fetch),
  });
  return success({
    transport,
    leave: () => waitBriefly(transport.terminateSession()),
    end: () => network.value.close(),
  });
}

/** Waits for optional work, but not for long. */
async function waitBriefly(work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((done) => timer = setTimeout(done, GRACE));
  await Promise.race([work.catch(() => {}), over]);
  clearTimeout(timer);
}
