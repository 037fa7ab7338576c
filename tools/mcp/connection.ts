// One server while it is connected: started or dialled, asked for its tools, called. The official client is loaded here.

import type { Transport } from "npm:@modelcontextprotocol/sdk@1.32.2/shared/transport.js";
import type { Client } from "./client.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { McpServer } from "../../config/settings.generated.ts";
import { type Fault, faultOf, statusOf } from "./faults.ts";
import { guardedFetch } from "./http.ts";
import { type Piped, PipeTransport } from "./pipes.ts";

/** What a connection needs of its host. */
export interface ConnectionHost {
  readonly version: string;
  /** Folders that the server may know of, as addresses. */
  readonly roots: readonly string[];
  /** Whether what is started is behind the wall. */
  readonly confined: boolean;
  /** Starts the program of a server. */
  spawn(server: McpServer): Promise<Outcome<Piped>>;
  /** The way to an address. */
  network(url: string): Promise<Outcome<Network>>;
  /** Told that the list of its tools is another one now. */
  onListChanged?(): void;
}

/** How requests to a server over HTTP are made. */
export interface Network {
  readonly fetch: typeof fetch;
  close(): void;
}

/** How a call is made. */
export interface CallOptions {
  /** How long the server may be silent: progress that it tells begins the time anew. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  onProgress(text: string): void;
}

/** What came of a call: the server's answer, what it refused in its words, or what went wrong on the way. */
export type CallOutcome =
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "silent"; readonly why: string }
  | { readonly kind: "lost"; readonly fault: Fault; readonly forgotten: boolean };

/** Tools that a server may list; what lists more has no end. */
const MOST_TOOLS = 1000;
/** Milliseconds that saying farewell, or a sign of life, may take. */
const GRACE = 1000;

/** Codes of the protocol that are made on this side. */
const CONNECTION_CLOSED = -32000;
const REQUEST_TIMEOUT = -32001;

/** A connection that stands. */
export class Connection {
  readonly #name: string;
  readonly #server: McpServer;
  readonly #client: Client;
  readonly #way: Way;
  readonly #confined: boolean;
  /** Whether it has ended by itself. */
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
   * Connects within so many seconds. Fails with `mcp-unreachable`, in words of the server where it said something.
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
      return failure("mcp-unreachable", `The server ${name} did not start: ${why}`, next);
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  /** All tools that it lists, as it lists them. Throws what went wrong. */
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
      // A page that was there before comes for ever.
      if (seen.has(cursor)) break;
      seen.add(cursor);
    } while (cursor !== undefined && cursor !== null && tools.length < MOST_TOOLS);
    return tools.slice(0, MOST_TOOLS);
  }

  /** Calls a tool; cancelled by the signal. */
  async call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<CallOutcome> {
    const { ResultSchema } = await import("./client.ts");
    // The client hears a signal for as long as that lives, and would cancel what has ended.
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
        return { kind: "silent", why: `it has told nothing for ${options.seconds} s` };
      }
      if (code !== null && code !== CONNECTION_CLOSED) {
        return { kind: "refused", why: faultOf(thrown, { ...this.#place, stderr: "" }).why };
      }
      return { kind: "lost", fault: faultOf(thrown, this.#place), forgotten: statusOf(thrown) === 404 };
    } finally {
      options.signal.removeEventListener("abort", cancel);
    }
  }

  /** The fault behind what `tools` threw. */
  faultOf(thrown: unknown): Fault {
    return faultOf(thrown, this.#place);
  }

  /** Whether it still answers. */
  async lives(): Promise<boolean> {
    try {
      await this.#client.ping({ timeout: GRACE });
      return true;
    } catch {
      return false;
    }
  }

  /** Takes leave, as far as the server hears it, and ends the connection. */
  async close(): Promise<void> {
    if (!this.ended) await this.#way.leave();
    // What cannot be told any more needs not be.
    await this.#client.close().catch(() => {});
    this.#way.end();
  }

  get #place() {
    return {
      name: this.#name,
      server: this.#server,
      stderr: this.#way.transport.stderr,
      broke: this.#way.transport.broke,
      confined: this.#confined,
    };
  }
}

/** The code of an error that the protocol knows; null for any other. */
function codeOf(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || thrown.name !== "McpError") return null;
  const { code } = thrown as { readonly code?: unknown };
  return typeof code === "number" ? code : null;
}

/** What a server tells while a call runs. */
interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

function wordsOf({ progress, total, message }: Progress): string {
  return `${message ?? "progress"} ${progress}${total === undefined ? "" : `/${total}`}`;
}

/** How messages go to a server and back. */
interface Way {
  readonly transport: Transport & { readonly stderr?: string; readonly broke?: string | undefined };
  /** Tells the server that nobody needs it any more. */
  leave(): Promise<void>;
  /** Gives back what was taken for it. */
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

/** Waits for something that nobody needs, but not long. */
async function waitBriefly(work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((done) => timer = setTimeout(done, GRACE));
  await Promise.race([work.catch(() => {}), over]);
  clearTimeout(timer);
}
