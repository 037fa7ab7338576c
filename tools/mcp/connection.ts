// A connection to one MCP server: starts or dials it, lists its tools, calls them. Loads the official client.

import type {
  Client,
  jsonSchemaValidator,
  JsonSchemaValidatorResult,
  StandardSchemaV1,
  Transport,
} from "npm:@modelcontextprotocol/client@2.4.0";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { McpServer } from "../../config/settings.generated.ts";
import { askedIn, lackedIn, wordsOfRequest } from "./asked.ts";
import { faultOf, type McpFault, statusOf } from "./faults.ts";
import { guardedFetch, type McpNetwork } from "./http.ts";
import { type Piped, PipeTransport } from "./pipes.ts";
import type { ServerAnswers } from "./questions/answers.ts";
import { LiveQuestions } from "./questions/live.ts";
import { type AskedState, pagesIn, questionsIn } from "./questions/read.ts";
import type { Bearer } from "./sign_in/bearer.ts";
import { SignInNeeded, signInProblem } from "./sign_in/types.ts";

/**
 * The protocol that a server speaks: `legacy` begins with a handshake; `modern`, which exists since 2026-07-28, has
 * requests that stand alone.
 */
export type ProtocolEra = "legacy" | "modern";

/** Services that a connection needs from its host. */
export interface ConnectionHost {
  readonly version: string;
  /** Folders that a server of the legacy protocol may know, as URLs; empty if it may know none. */
  readonly roots: readonly string[];
  /** True if started programs run in the sandbox. */
  readonly confined: boolean;
  /** Starts the program of a server. */
  spawn(server: McpServer): Promise<Outcome<Piped>>;
  /** Returns the network access to a URL. */
  network(url: string): Promise<Outcome<McpNetwork>>;
  /** Gives the token of a sign-in; null if the server gets none. */
  readonly bearer: Bearer | null;
  /** Called when the server's tool list has changed. */
  onListChanged?(): void;
}

/** Options of a call. */
export interface CallOptions {
  /** How long the server may be silent, in seconds; each progress message restarts the time. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** The tool's input schema, from which the modern protocol takes headers. */
  readonly schema: Readonly<Record<string, unknown>>;
  onProgress(text: string): void;
  /** What the person answered to the server's questions in an earlier run of the call; null if it asked nothing. */
  readonly answers: GivenAnswers | null;
}

/** Answers of a person, and what the server needs with them. */
export interface GivenAnswers {
  readonly state: AskedState;
  readonly answers: ServerAnswers;
}

/** Outcome of a call: the server's answer, its refusal in its own words, or a connection failure. */
export type CallOutcome =
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "silent"; readonly why: string }
  /** The server needs something of this program that it does not offer; `what` continues its name. */
  | { readonly kind: "asks"; readonly what: string }
  /** The server asks the person, and has not finished the call. */
  | { readonly kind: "questions"; readonly asked: Omit<AskedState, "server"> }
  /** The person must sign in first; the server has not run the call. */
  | { readonly kind: "sign-in"; readonly why: string }
  | { readonly kind: "lost"; readonly fault: McpFault; readonly forgotten: boolean };

/** Maximum number of tools of a server; a longer list is assumed to be endless. */
const MOST_TOOLS = 1000;
/** Milliseconds for ending a session, or for a ping. */
const GRACE = 1000;

/** Milliseconds in which a program must answer whether it speaks the modern protocol; old ones may stay silent. */
const PROBE = 5000;

/** Protocol error code that this program creates if a connection breaks. */
const CONNECTION_CLOSED = -32000;
/** Protocol error code for a request that this program does not answer. */
const METHOD_NOT_FOUND = -32601;

/** Accepts every result, so that this program sees what the server sent. */
const ANY_RESULT: StandardSchemaV1<unknown, Record<string, unknown>> = {
  "~standard": {
    version: 1,
    vendor: "flemma",
    validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
  },
};

/** Results are not checked against a tool's output schema: the model reads them either way. */
const NO_VALIDATOR: jsonSchemaValidator = {
  getValidator: <T>() => (data: unknown): JsonSchemaValidatorResult<T> => ({
    valid: true,
    data: data as T,
    errorMessage: undefined,
  }),
};

/** Capabilities of this program: servers may ask the person. */
const CAPABILITIES = { elicitation: { form: {}, url: {} } };
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

/** An open connection. */
export class Connection {
  readonly #name: string;
  readonly #server: McpServer;
  readonly #client: Client;
  readonly #way: Way;
  readonly #host: ConnectionHost;
  readonly #questions: LiveQuestions;
  /** True if the connection ended without being closed by this program. */
  ended = false;

  private constructor(
    name: string,
    server: McpServer,
    client: Client,
    way: Way,
    host: ConnectionHost,
    questions: LiveQuestions,
  ) {
    this.#questions = questions;
    this.#name = name;
    this.#server = server;
    this.#client = client;
    this.#way = way;
    this.#host = host;
    client.onclose = () => this.ended = true;
  }

  /**
   * Connects to a server within a number of seconds. Fails with `mcp-unreachable`; the message contains the error
   * output of the server, if there is any.
   *
   * @param era the protocol that the server spoke last; null if unknown
   * @param signal ends the waiting
   */
  static async open(
    name: string,
    server: McpServer,
    host: ConnectionHost,
    { seconds, era, signal }: {
      readonly seconds: number;
      readonly era: ProtocolEra | null;
      readonly signal: AbortSignal;
    },
  ): Promise<Outcome<Connection>> {
    const isLegacy = era === "legacy";
    const first = await Connection.#try(name, server, host, { seconds, isLegacy, signal });
    if (first.ok || !first.mayTryOther) return first;
    // A program that ends when it gets an unknown request is asked in the legacy protocol by a new process. A server
    // that spoke the legacy protocol last may have been updated.
    const second = await Connection.#try(name, server, host, { seconds, isLegacy: !isLegacy, signal });
    return second.ok || !isLegacy ? second : first;
  }

  static async #try(
    name: string,
    server: McpServer,
    host: ConnectionHost,
    { seconds, isLegacy, signal }: {
      readonly seconds: number;
      readonly isLegacy: boolean;
      readonly signal: AbortSignal;
    },
  ): Promise<Outcome<Connection> & { readonly mayTryOther?: boolean }> {
    const sdk = await import("./client.ts");
    const roots = host.roots.map((uri) => ({ uri }));
    const timeout = seconds * 1000;
    const probe = { timeoutMs: server.url ? timeout : Math.min(timeout / 2, PROBE) };
    const client = new sdk.Client({ name: "flemma", version: host.version }, {
      capabilities: { ...CAPABILITIES, ...(roots.length > 0 ? { roots: {} } : {}) },
      jsonSchemaValidator: NO_VALIDATOR,
      versionNegotiation: { mode: "auto", probe },
      inputRequired: { autoFulfill: false },
    });
    if (roots.length > 0) client.setRequestHandler("roots/list", () => ({ roots }));
    client.fallbackRequestHandler = ({ method }) => {
      const message = `The server ${wordsOfRequest(method)}; flemma does not offer this.`;
      return Promise.reject(Object.assign(new Error(message), { code: METHOD_NOT_FOUND }));
    };
    const questions = new LiveQuestions();
    client.setRequestHandler("elicitation/create", ({ params }) => ({ ...questions.answer(params) }));
    client.setNotificationHandler("notifications/tools/list_changed", () => host.onListChanged?.());
    const found = await wayTo(server, host);
    if (!found.ok) return found;
    const way = found.value;
    const connection = new Connection(name, server, client, way, host, questions);
    const giveUp = () => void way.transport.close();
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      if (signal.aborted) throw signal.reason;
      await client.connect(way.transport, { timeout, ...(isLegacy ? { prior: { kind: "legacy" } } : {}) });
      await connection.#listen();
      return success(connection);
    } catch (thrown) {
      await way.transport.close().catch(() => {});
      way.end();
      const needed = await connection.#signInNeeded(thrown);
      if (needed !== null) return { ok: false, problem: signInProblem(name, needed) };
      const place = connection.#place;
      const { why, next } = faultOf(thrown, place);
      const mayTryOther = !signal.aborted && !place.setupFailure && place.broke === undefined &&
        (isLegacy ? refusesLegacy(thrown) : endedDuringProbe(thrown, server));
      return {
        ...failure("mcp-unreachable", `The MCP server ${name} did not start: ${why}`, next),
        mayTryOther,
      };
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  /** The protocol of this connection. */
  get era(): ProtocolEra {
    return this.#client.getProtocolEra() ?? "legacy";
  }

  /** In the modern protocol, a server announces a changed tool list only to a client that listens for it. */
  async #listen(): Promise<void> {
    if (this.era !== "modern" || !this.#client.getServerCapabilities()?.tools?.listChanged) return;
    // A server that refuses still works; its changes are seen when its tools are listed again.
    await this.#client.listen({ toolsListChanged: true }, { timeout: GRACE }).catch(() => {});
  }

  /** Parameters with this program's capabilities: a server of the modern protocol gets no folders. */
  #params(own: Record<string, unknown>): Record<string, unknown> {
    return this.era === "modern" ? { ...own, _meta: { [CAPABILITIES_KEY]: CAPABILITIES } } : own;
  }

  /** Returns all tools of the server, exactly as the server lists them. Throws on failure. */
  async tools(seconds: number): Promise<unknown[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    const tools: unknown[] = [];
    const seen = new Set<unknown>();
    let cursor: unknown;
    do {
      const params = this.#params(typeof cursor === "string" ? { cursor } : {});
      const request = { method: "tools/list", params };
      const page = await this.#client.request(request, ANY_RESULT, { timeout: seconds * 1000 });
      if (Array.isArray(page.tools)) tools.push(...page.tools);
      cursor = page.nextCursor;
      // A server that repeats a cursor would make this loop endless.
      if (seen.has(cursor)) break;
      seen.add(cursor);
    } while (cursor !== undefined && cursor !== null && tools.length < MOST_TOOLS);
    return tools.slice(0, MOST_TOOLS);
  }

  /** Sends a request about prompts or resources, and returns the result. Throws on failure. */
  async request(method: string, params: Record<string, unknown>, seconds: number): Promise<unknown> {
    const result = await this.#client.request({ method, params: this.#params(params) }, ANY_RESULT, {
      timeout: seconds * 1000,
      allowInputRequired: true,
    });
    const asked = askedIn(result);
    if (asked !== null) throw new Error(`the server ${asked}; flemma does not offer this`);
    return result;
  }

  /** Calls a tool; the signal cancels the call. */
  async call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<CallOutcome> {
    // The client never stops listening to the signal it gets. With the signal of the call, it would also cancel
    // requests that have ended, so each request gets its own signal.
    const stop = new AbortController();
    const cancel = () => stop.abort(options.signal.reason);
    if (options.signal.aborted) cancel();
    options.signal.addEventListener("abort", cancel, { once: true });
    const isLegacy = this.era === "legacy";
    const live = isLegacy ? this.#questions.begin(options.answers) : null;
    try {
      const { state, answers } = options.answers ?? {};
      const params = {
        ...this.#params({ arguments: input }),
        name,
        ...(isLegacy || answers === undefined ? {} : {
          inputResponses: answers,
          ...((state?.requestState ?? null) === null ? {} : { requestState: state?.requestState }),
        }),
      };
      const waiting = {
        timeout: options.seconds * 1000,
        resetTimeoutOnProgress: true,
        signal: stop.signal,
        onprogress: (progress: Progress) => options.onProgress(`${wordsOf(progress)}\n`),
      };
      // Only `callTool` sends the headers that the modern protocol requires, but it rejects unknown content, which the
      // legacy protocol always had.
      const answer = isLegacy
        ? await this.#client.request({ method: "tools/call", params }, ANY_RESULT, waiting)
        : await this.#client.callTool(params, {
          ...waiting,
          allowInputRequired: true,
          toolDefinition: { name, inputSchema: { ...options.schema, type: "object" } },
        });
      if (live?.asked) return { kind: "questions", asked: live.asked };
      const questions = questionsIn(answer);
      if (questions?.ok) {
        return { kind: "questions", asked: { ...questions.value, repeats: false, answered: [] } };
      }
      const asked = questions === null ? askedIn(answer) : questions.problem;
      return asked === null ? { kind: "answer", answer } : { kind: "asks", what: asked };
    } catch (thrown) {
      const needed = await this.#signInNeeded(thrown);
      if (needed !== null) return { kind: "sign-in", why: needed.message };
      // A server may fail the call, or end, because the question was not answered.
      if (live?.asked) return { kind: "questions", asked: live.asked };
      const pages = pagesIn(thrown);
      if (pages?.ok) return { kind: "questions", asked: pages.value };
      if (pages !== null) return { kind: "asks", what: pages.problem };
      const lacked = lackedIn(thrown);
      if (lacked !== null) return { kind: "asks", what: lacked };
      const code = codeOf(thrown);
      if (code === "REQUEST_TIMEOUT") {
        return { kind: "silent", why: `it sent nothing for ${options.seconds} s` };
      }
      if (typeof code === "number" && code !== CONNECTION_CLOSED || code === "INVALID_RESULT") {
        return { kind: "refused", why: faultOf(thrown, { ...this.#place, stderr: "" }).why };
      }
      return { kind: "lost", fault: faultOf(thrown, this.#place), forgotten: statusOf(thrown) === 404 };
    } finally {
      live?.end();
      options.signal.removeEventListener("abort", cancel);
    }
  }

  /** Returns the problem of an error that `tools` or `request` threw; `what` says what the server did not do. */
  async problemOf(thrown: unknown, what: string): Promise<Problem> {
    const needed = await this.#signInNeeded(thrown);
    if (needed !== null) return signInProblem(this.#name, needed);
    const { why, next } = faultOf(thrown, this.#place);
    return {
      code: "mcp-unreachable",
      message: `The MCP server ${this.#name} did not ${what}: ${why}`,
      // An error in the server's own words says more than advice about its start.
      ...(typeof codeOf(thrown) === "number" && codeOf(thrown) !== CONNECTION_CLOSED ? {} : { next }),
    };
  }

  /** Returns what the person must sign in for; null if an error has another reason. */
  async #signInNeeded(thrown: unknown): Promise<SignInNeeded | null> {
    const { bearer } = this.#host;
    if (bearer === null) return null;
    const { InsufficientScopeError } = await import("./client.ts");
    for (let at = thrown; at instanceof Error; at = at.cause) {
      if (at instanceof SignInNeeded) return at;
      if (at instanceof InsufficientScopeError) return await bearer.outgrown(at.requiredScope);
    }
    return null;
  }

  /** True if the server still answers. */
  async lives(): Promise<boolean> {
    try {
      if (this.era === "legacy") await this.#client.ping({ timeout: GRACE });
      else await this.#client.discover({ timeout: GRACE });
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
      confined: this.#host.confined,
    };
  }
}

/** The code of an error of the protocol (a number) or of the client (a word); null if it has none. */
function codeOf(thrown: unknown): number | string | null {
  if (!(thrown instanceof Error) || !["ProtocolError", "SdkError"].includes(thrown.name)) return null;
  const { code } = thrown as { readonly code?: unknown };
  return typeof code === "number" || typeof code === "string" ? code : null;
}

/** True if a program ended when it was asked for the modern protocol. */
function endedDuringProbe(thrown: unknown, { url }: McpServer): boolean {
  return !url && codeOf(thrown) === "ERA_NEGOTIATION_FAILED";
}

/** True if a server answered the handshake of the legacy protocol with an error. */
function refusesLegacy(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return typeof code === "number" && code !== CONNECTION_CLOSED || statusOf(thrown) === 400;
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
    ...(host.bearer === null ? {} : { authProvider: host.bearer }),
    onInsufficientScope: "throw",
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
