// The replay server: imitates the providers' APIs on loopback from a script of replies.
//
// Only the model's replies are scripted. A refused request gets an error in the provider's own format, so the reason
// appears wherever provider errors appear.

import { chatCompletions } from "./chat/dialect.ts";
import type { Asked, Dialect } from "./dialect.ts";
import { generateContent } from "./google/dialect.ts";
import {
  type Account,
  answerMessages,
  LENIENT_MESSAGES,
  type MessagesRules,
  type Refused,
} from "./messages.ts";
import { responses } from "./openai/dialect.ts";
import type { ReplayScript } from "./script.ts";
import { ScriptTurns } from "./turns.ts";
import { answerWith } from "./wire.ts";

export { parseReplayScript, type ReplayScript, type ScriptedReply } from "./script.ts";

/** A received request. */
export interface ReplayedRequest {
  /** Path of the URL. */
  readonly path: string;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The exact body. */
  readonly body: string;
}

/** A running replay server. */
export interface Replay extends AsyncDisposable {
  /** Base URL, for `providers.anthropic.base_url` or `FLEMMA_ANTHROPIC_BASE_URL`. */
  readonly url: string;
  /** All requests so far. */
  readonly requests: readonly ReplayedRequest[];
  /** The error message of each refused request. */
  readonly problems: readonly string[];
  /** Number of replies of the script that were not given yet; 0 for a script with `order: any`. */
  readonly remaining: number;
  /** Stops the server and closes every open connection. */
  close(): Promise<void>;
}

/** How the replay server behaves. */
export interface ReplayOptions {
  /** The port; 0 takes any free one. @default any free one */
  readonly port?: number;
  /** Account of the key. Thinking belongs to it, and older accounts have looser rules. @default a new account */
  readonly account?: Account;
  /** True to act as a gateway that refuses beta headers and the fields that they allow. @default false */
  readonly withoutBetas?: boolean;
  /** True to accept requests that the API itself would refuse. @default false */
  readonly lenient?: boolean;
}

interface VendorRules {
  readonly messages: MessagesRules;
  /** Returns every rule that a request to an API other than Anthropic's breaks. */
  refusals(dialect: Dialect, asked: Asked): readonly string[];
}

async function rulesOf(
  { lenient = false, account = NEW_ACCOUNT, withoutBetas = false }: ReplayOptions,
): Promise<VendorRules> {
  if (lenient) return { messages: LENIENT_MESSAGES, refusals: () => [] };
  const { REFUSALS, StrictMessages } = await import("./strict/mod.ts");
  return {
    messages: new StrictMessages(account, withoutBetas),
    refusals: ({ name }, asked) => REFUSALS[name](asked),
  };
}

/**
 * Starts a server on 127.0.0.1 that gives the script's replies in order. A refused request does not use up its reply.
 * Rejects with the system's error if the given port is taken.
 *
 * @param script the model's replies
 * @param options port, account and strictness. @default any free port, a new account, the rules of the APIs
 * @returns the running server; `await using` or `close` ends it
 */
export async function startReplay(script: ReplayScript, options: ReplayOptions = {}): Promise<Replay> {
  const server = new ReplayServer(script, options, await rulesOf(options));
  await server.listening;
  return server;
}

/** Anthropic's method that counts the tokens of a request. */
const COUNT_PATH = "/v1/messages/count_tokens";

function roughTokens(body: string): number {
  return Math.ceil(body.length / 4);
}

/** The imitated APIs other than Anthropic's. */
const DIALECTS: readonly Dialect[] = [responses, chatCompletions, generateContent];

const NEW_ACCOUNT: Account = { id: "replay" };

class ReplayServer implements Replay {
  readonly requests: ReplayedRequest[] = [];
  readonly problems: string[] = [];
  /** Resolves when the server has its port. */
  readonly listening: Promise<void>;
  readonly #script: ReplayScript;
  readonly #turns: ScriptTurns;
  readonly #account: string;
  readonly #rules: VendorRules;
  readonly #abort = new AbortController();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(
    script: ReplayScript,
    { port = 0, account = NEW_ACCOUNT }: ReplayOptions,
    rules: VendorRules,
  ) {
    this.#script = script;
    this.#turns = new ScriptTurns(script);
    this.#account = account.id;
    this.#rules = rules;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server = Deno.serve({
      hostname: "127.0.0.1",
      port,
      signal: this.#abort.signal,
      onListen: () => resolve(),
      // The handler runs only when the script cuts the connection, and nobody sees the response.
      onError: () => new Response(null, { status: 500 }),
    }, (request) => this.#answer(request));
    this.listening = Promise.race([promise, this.#server.finished]);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  get remaining(): number {
    return this.#script.order === "any" ? 0 : this.#script.replies.length - this.#turns.given;
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#server.finished;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #answer(request: Request): Promise<Response> {
    const { method, headers } = request;
    const text = await request.text();
    const { pathname: path } = new URL(request.url);
    this.requests.push({ path, headers: Object.fromEntries(headers), body: text });
    if (method === "POST" && path === COUNT_PATH) return Response.json({ input_tokens: roughTokens(text) });
    const dialect = DIALECTS.find((each) => method === "POST" && each.serves(path));
    if (dialect === undefined && (method !== "POST" || path !== "/v1/messages")) {
      return this.#refuse({ status: 404, message: `replay: unknown endpoint ${method} ${path}` });
    }
    const body = decodeBody(text);
    const asked = body === null ? null : { path, text, body, headers };
    if (dialect !== undefined) return this.#play(dialect, asked);
    if (asked === null) return this.#refuse({ status: 400, message: NO_OBJECT });
    const answer = await answerMessages(
      asked,
      this.#rules.messages,
      this.#account,
      (view) => this.#turns.take(view),
    );
    return answer instanceof Response ? answer : this.#refuse(answer);
  }

  #play(dialect: Dialect, asked: Asked | null): Response {
    const turnDown = (message: string) => this.#refuseWith(400, message, dialect.errorBody(400, message));
    if (asked === null) return turnDown(NO_OBJECT);
    const broken = this.#rules.refusals(dialect, asked);
    if (broken.length > 0) return turnDown(broken.join("; "));
    const scripted = this.#turns.take(dialect.view(asked.body));
    if (typeof scripted === "string") return turnDown(scripted);
    return answerWith(scripted, () => dialect.frames(scripted, asked, this.#turns.given));
  }

  #refuse({ status, message, type = "invalid_request_error" }: Refused): Response {
    return this.#refuseWith(status, message, { type: "error", error: { type, message } });
  }

  #refuseWith(status: number, message: string, body: object): Response {
    this.problems.push(message);
    return Response.json(body, { status });
  }
}

const NO_OBJECT = "replay: the request body is not a JSON object";

function decodeBody(body: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value as Readonly<Record<string, unknown>> : null;
  } catch {
    return null;
  }
}
