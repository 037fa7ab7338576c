// The replay server: speaks the protocols of the providers on loopback from a script of replies.
//
// Nothing but the model's words is scripted. A refused request gets an error in the provider's own shape, so that the
// reason is seen wherever provider errors are seen.

import { chatCompletions } from "./chat/dialect.ts";
import type { Asked, Dialect } from "./dialect.ts";
import { type RequestView, unmet } from "./expect.ts";
import { generateContent } from "./google/dialect.ts";
import {
  type Account,
  answerMessages,
  LENIENT_MESSAGES,
  type MessagesRules,
  type Refused,
} from "./messages.ts";
import { responses } from "./openai/dialect.ts";
import type { ReplayScript, ScriptedReply } from "./script.ts";
import { answerWith } from "./wire.ts";

export { parseReplayScript, type ReplayScript, type ScriptedReply } from "./script.ts";

/** A request as it arrived. */
export interface ReplayedRequest {
  /** Path of the address. */
  readonly path: string;
  /** Header lines by lower-case name. */
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
  /** Every refusal, as the sentence that the client was given. */
  readonly problems: readonly string[];
  /** Replies of the script that no request has asked for yet. */
  readonly remaining: number;
  /** Ends the server and every open connection. */
  close(): Promise<void>;
}

/** How the server is, besides what its model says. */
export interface ReplayOptions {
  /** The port; 0 takes any free one. @default any free one */
  readonly port?: number;
  /** Whose key is used: thinking belongs to an account, and old ones are treated more gently. @default a new one */
  readonly account?: Account;
  /** A gateway that knows no beta headers, and refuses what they allow. @default false */
  readonly withoutBetas?: boolean;
  /** Takes requests that the API itself would refuse. @default false */
  readonly lenient?: boolean;
}

/** Which requests the APIs take. */
interface VendorRules {
  readonly messages: MessagesRules;
  /** Every rule that a request to another API than Anthropic's breaks. */
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
 * Starts a server on 127.0.0.1 that gives the replies of the script in their order. A refused request does not
 * use its reply up: the next one may hold what was missing. Port 0 takes any free port; rejects with the
 * system's error when a given port is taken.
 *
 * @param script the model's words
 * @param options port, account and strictness. @default any free port, a new account, the rules of the APIs
 * @returns the running server; `await using` or `close` ends it
 */
export async function startReplay(script: ReplayScript, options: ReplayOptions = {}): Promise<Replay> {
  return new ReplayServer(script, options, await rulesOf(options));
}

/** The APIs that are played besides Anthropic's. */
const DIALECTS: readonly Dialect[] = [responses, chatCompletions, generateContent];

const NEW_ACCOUNT: Account = { id: "replay" };

class ReplayServer implements Replay {
  readonly requests: ReplayedRequest[] = [];
  readonly problems: string[] = [];
  readonly #script: ReplayScript;
  readonly #account: string;
  readonly #rules: VendorRules;
  readonly #abort = new AbortController();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  /** Replies that were given. */
  #given = 0;

  constructor(
    script: ReplayScript,
    { port = 0, account = NEW_ACCOUNT }: ReplayOptions,
    rules: VendorRules,
  ) {
    this.#script = script;
    this.#account = account.id;
    this.#rules = rules;
    this.#server = Deno.serve({
      hostname: "127.0.0.1",
      port,
      signal: this.#abort.signal,
      onListen: () => {},
      // Only a connection cut on purpose ends here, and its answer is never seen.
      onError: () => new Response(null, { status: 500 }),
    }, (request) => this.#answer(request));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  get remaining(): number {
    return this.#script.replies.length - this.#given;
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
    const dialect = DIALECTS.find((each) => method === "POST" && each.serves(path));
    if (dialect === undefined && (method !== "POST" || path !== "/v1/messages")) {
      return this.#refuse({ status: 404, message: `replay: there is nothing at ${method} ${path}` });
    }
    const body = decodeBody(text);
    const asked = body === null ? null : { path, text, body, headers };
    if (dialect !== undefined) return this.#play(dialect, asked);
    if (asked === null) return this.#refuse({ status: 400, message: NO_OBJECT });
    const answer = await answerMessages(
      asked,
      this.#rules.messages,
      this.#account,
      (view) => this.#take(view),
    );
    return answer instanceof Response ? answer : this.#refuse(answer);
  }

  #play(dialect: Dialect, asked: Asked | null): Response {
    const turnDown = (message: string) => this.#refuseWith(400, message, dialect.errorBody(400, message));
    if (asked === null) return turnDown(NO_OBJECT);
    const broken = this.#rules.refusals(dialect, asked);
    if (broken.length > 0) return turnDown(broken.join("; "));
    const scripted = this.#take(dialect.view(asked.body));
    if (typeof scripted === "string") return turnDown(scripted);
    return answerWith(scripted, () => dialect.frames(scripted, dialect.modelOf(asked), this.#given));
  }

  /** The next reply of the script for a request that holds what it expects, or why it is not given. */
  #take(view: RequestView): ScriptedReply | string {
    const { replies } = this.#script;
    const scripted = replies[this.#given];
    if (scripted === undefined) {
      return `replay: the script has ${replies.length} replies and no more for this request`;
    }
    const missing = unmet(scripted.expect ?? {}, view);
    if (missing.length > 0) {
      return `replay: reply ${this.#given + 1} is not given, because ${missing.join("; ")}`;
    }
    this.#given++;
    return scripted;
  }

  #refuse({ status, message, type = "invalid_request_error" }: Refused): Response {
    return this.#refuseWith(status, message, { type: "error", error: { type, message } });
  }

  #refuseWith(status: number, message: string, body: object): Response {
    this.problems.push(message);
    return Response.json(body, { status });
  }
}

const NO_OBJECT = "replay: the body of the request is no JSON object";

function decodeBody(body: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value as Readonly<Record<string, unknown>> : null;
  } catch {
    return null;
  }
}
