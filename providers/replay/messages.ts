// Anthropic's Messages API as a replay server plays it: what it refuses, whose thinking it takes, and how it answers.

import { isObject } from "../../base/is_object.ts";
import type { Asked } from "./dialect.ts";
import { type RequestView, viewRequest } from "./expect.ts";
import { replyFrames } from "./frames.ts";
import { retired } from "./model_rules.ts";
import { Replies } from "./replies.ts";
import { refusals } from "./rules.ts";
import type { ReplyBlock, ScriptedReply } from "./script.ts";
import { type Account, judgeThinking, seal } from "./seal.ts";
import { answerWith } from "./wire.ts";

/** A request that the API turns down. */
export interface Refused {
  readonly status: number;
  readonly message: string;
  /** @default invalid_request_error */
  readonly type?: string;
}

export class MessagesPlayer {
  readonly #account: Account;
  readonly #withoutBetas: boolean;
  readonly #replies = new Replies();

  /**
   * @param account whose key is used
   * @param withoutBetas a gateway stands before it that knows no beta headers
   */
  constructor(account: Account, withoutBetas: boolean) {
    this.#account = account;
    this.#withoutBetas = withoutBetas;
  }

  /**
   * Answers a request, or says why not.
   *
   * @param take the next reply of the script for such a request, or why it is not given
   */
  async answer(
    asked: Asked,
    take: (view: RequestView) => ScriptedReply | string,
  ): Promise<Response | Refused> {
    const { body } = asked;
    const betas = betasOf(asked.headers);
    const refused = this.#refusalOf(asked, betas);
    if (refused !== null) return refused;
    const verdict = await judgeThinking(body, this.#account, betas.size > 0);
    if (verdict.refusal !== null) return { status: 400, message: verdict.refusal };
    const scripted = take(viewRequest(body));
    if (typeof scripted === "string") return { status: 400, message: scripted };
    const blocks = await sealed(scripted.reply ?? [], body, this.#account, verdict.last);
    this.#replies.add(blocks.map(wireBlock), scripted.stop_reason);
    const told = betas.size > 0 ? { input_transformations: verdict.transformations } : {};
    return reply({ ...scripted, reply: blocks }, String(body.model ?? "replay"), this.#account.id, told);
  }

  /** What the API says against a request before it looks at its thinking; null for nothing. */
  #refusalOf({ text, body, headers }: Asked, betas: ReadonlySet<string>): Refused | null {
    const unknown = this.#withoutBetas ? [...betas] : [...betas].filter((beta) => !BETAS.has(beta));
    if (unknown.length > 0) {
      return {
        status: 400,
        message: `Unexpected value(s) \`${unknown.join("\`, \`")}\` for the \`anthropic-beta\` header.`,
      };
    }
    const gone = retired(body.model);
    if (gone !== null) return { status: 404, message: gone, type: "not_found_error" };
    if (!headers.has("anthropic-version")) {
      return { status: 400, message: "anthropic-version: header is required" };
    }
    const messages = messagesOf(body);
    const broken = refusals(text, body, { betas, resumes: this.#replies.resumes(messages) });
    if (broken.length > 0) return { status: 400, message: broken.join("; ") };
    const changed = this.#replies.problems(messages);
    return changed.length > 0 ? { status: 400, message: changed.join("; ") } : null;
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
