// The replay server: speaks the protocols of the providers on loopback from a script of replies.
//
// Nothing but the model's words is scripted. A request that the API itself would refuse, or that does not hold what
// the script expects, is refused with an error in the provider's own shape, so that the reason is seen wherever
// provider errors are seen.

import { isObject } from "../../base/is_object.ts";
import { chatCompletions } from "./chat/dialect.ts";
import type { Dialect } from "./dialect.ts";
import { type RequestView, unmet, viewRequest } from "./expect.ts";
import { replyFrames } from "./frames.ts";
import { generateContent } from "./google/dialect.ts";
import { retired } from "./model_rules.ts";
import { responses } from "./openai/dialect.ts";
import { Replies } from "./replies.ts";
import { refusals } from "./rules.ts";
import { type Account, judgeThinking, seal } from "./seal.ts";
import type { ReplayScript, ReplyBlock, ScriptedReply } from "./script.ts";
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
}

/**
 * Starts a server on 127.0.0.1 that gives the replies of the script in their order. A refused request does not
 * use its reply up: the next one may hold what was missing. Port 0 takes any free port; rejects with the
 * system's error when a given port is taken.
 *
 * @param script the model's words
 * @param options port and account. @default any free port, a new account
 * @returns the running server; `await using` or `close` ends it
 */
export function startReplay(script: ReplayScript, options: ReplayOptions = {}): Promise<Replay> {
  return new Promise((resolve) => resolve(serveScript(script, options)));
}

/** The APIs that are played besides Anthropic's. */
const DIALECTS: readonly Dialect[] = [responses, chatCompletions, generateContent];

const NEW_ACCOUNT: Account = { id: "replay" };

function serveScript(
  script: ReplayScript,
  { port = 0, account = NEW_ACCOUNT, withoutBetas = false }: ReplayOptions,
): Replay {
  const replies = new Replies();
  const requests: ReplayedRequest[] = [];
  const problems: string[] = [];
  let next = 0;
  const refuseWith = (status: number, message: string, body: object): Response => {
    problems.push(message);
    return Response.json(body, { status });
  };
  const refuse = (status: number, message: string, type = "invalid_request_error"): Response =>
    refuseWith(status, message, { type: "error", error: { type, message } });
  /** The next reply of the script for a request that holds what it expects, or why it is not given. */
  const take = (view: RequestView): ScriptedReply | string => {
    const scripted = script.replies[next];
    if (scripted === undefined) {
      return `replay: the script has ${script.replies.length} replies and no more for this request`;
    }
    const missing = unmet(scripted.expect ?? {}, view);
    if (missing.length > 0) return `replay: reply ${next + 1} is not given, because ${missing.join("; ")}`;
    next++;
    return scripted;
  };
  const answerAs = (dialect: Dialect, path: string, text: string, headers: Headers): Response => {
    const turnDown = (message: string): Response => refuseWith(400, message, dialect.errorBody(400, message));
    const body = decodeBody(text);
    if (body === null) return turnDown("replay: the body of the request is no JSON object");
    const asked = { path, text, body, headers };
    const broken = dialect.refusals(asked);
    if (broken.length > 0) return turnDown(broken.join("; "));
    const scripted = take(dialect.view(body));
    if (typeof scripted === "string") return turnDown(scripted);
    return answerWith(scripted, () => dialect.frames(scripted, dialect.modelOf(asked), next));
  };
  const answer = async (request: Request): Promise<Response> => {
    const body = await request.text();
    const { pathname } = new URL(request.url);
    requests.push({ path: pathname, headers: Object.fromEntries(request.headers), body });
    const dialect = DIALECTS.find((each) => request.method === "POST" && each.serves(pathname));
    if (dialect !== undefined) return answerAs(dialect, pathname, body, request.headers);
    if (request.method !== "POST" || pathname !== "/v1/messages") {
      return refuse(404, `replay: there is nothing at ${request.method} ${pathname}`);
    }
    const decoded = decodeBody(body);
    if (decoded === null) return refuse(400, "replay: the body of the request is no JSON object");
    const betas = betasOf(request.headers);
    const unknown = withoutBetas ? [...betas] : [...betas].filter((beta) => !BETAS.has(beta));
    if (unknown.length > 0) {
      return refuse(
        400,
        `Unexpected value(s) \`${unknown.join("\`, \`")}\` for the \`anthropic-beta\` header.`,
      );
    }
    const gone = retired(decoded.model);
    if (gone !== null) return refuse(404, gone, "not_found_error");
    if (!request.headers.has("anthropic-version")) {
      return refuse(400, "anthropic-version: header is required");
    }
    const broken = refusals(body, decoded, { betas, resumes: replies.resumes(messagesOf(decoded)) });
    if (broken.length > 0) return refuse(400, broken.join("; "));
    const changed = replies.problems(messagesOf(decoded));
    if (changed.length > 0) return refuse(400, changed.join("; "));
    const verdict = await judgeThinking(decoded, account, betas.size > 0);
    if (verdict.refusal !== null) return refuse(400, verdict.refusal);
    const scripted = take(viewRequest(decoded));
    if (typeof scripted === "string") return refuse(400, scripted);
    const blocks = await sealed(scripted.reply ?? [], decoded, account, verdict.last);
    replies.add(blocks.map(wireBlock), scripted.stop_reason);
    const told = betas.size > 0 ? { input_transformations: verdict.transformations } : {};
    return reply({ ...scripted, reply: blocks }, String(decoded.model ?? "replay"), account.id, told);
  };
  const abort = new AbortController();
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port,
    signal: abort.signal,
    onListen: () => {},
    // Only a connection cut on purpose ends here, and its answer is never seen.
    onError: () => new Response(null, { status: 500 }),
  }, answer);
  const close = async () => {
    abort.abort();
    await server.finished;
  };
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    problems,
    get remaining() {
      return script.replies.length - next;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function decodeBody(body: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value as Readonly<Record<string, unknown>> : null;
  } catch {
    return null;
  }
}

/** The betas that the API knows and this server plays. */
const BETAS: ReadonlySet<string> = new Set(["thinking-binding-controls-2026-08-01"]);

function betasOf(headers: Headers): ReadonlySet<string> {
  const named = (headers.get("anthropic-beta") ?? "").split(",").map((beta) => beta.trim());
  return new Set(named.filter((beta) => beta !== ""));
}

function messagesOf(body: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
}

/** The blocks of a reply with the thinking signed that the script has given no signature. */
async function sealed(
  blocks: readonly ReplyBlock[],
  body: Readonly<Record<string, unknown>>,
  account: Account,
  last: string | null,
): Promise<readonly ReplyBlock[]> {
  const out: ReplyBlock[] = [];
  let before = last;
  for (const block of blocks) {
    if (!("thinking" in block) || block.signature !== undefined) {
      out.push(block);
      continue;
    }
    const made = await seal(body, account, block.thinking, before);
    before = made.digest;
    out.push({ ...block, signature: made.signature });
  }
  return out;
}

/** A block of a script as it stands in a conversation. */
function wireBlock(block: ReplyBlock): Readonly<Record<string, unknown>> {
  if ("text" in block) return { type: "text", text: block.text };
  if ("thinking" in block) return { type: "thinking", signature: block.signature };
  if ("redacted" in block) return { type: "redacted_thinking", data: block.redacted };
  return { type: "tool_use", id: block.tool_use.id };
}

function reply(
  scripted: ScriptedReply,
  model: string,
  account: string,
  told: Readonly<Record<string, unknown>>,
): Response {
  const headers = { "anthropic-organization-id": account };
  return answerWith(scripted, () => replyFrames(scripted, model, told), headers);
}
