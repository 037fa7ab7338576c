// Checks of the Messages API for whole conversations: betas, models, and thinking that was changed.

import { isObject } from "../../../base/is_object.ts";
import type { Asked, JsonObject } from "../dialect.ts";
import type { Account, MessagesRules, Refused, Taken } from "../messages.ts";
import type { ReplyBlock, ScriptedReply } from "../script.ts";
import { isScriptedUse, serverToolBlocks } from "../search.ts";
import { keyDigest } from "../sealed.ts";
import { refusals } from "./anthropic.ts";
import { retiredModelError } from "./anthropic_models.ts";
import { Replies } from "./replies.ts";
import { checkThinking, seal } from "./seal.ts";

const BETAS: ReadonlySet<string> = new Set(["thinking-binding-controls-2026-08-01"]);

export class StrictMessages implements MessagesRules {
  readonly #account: Account;
  readonly #withoutBetas: boolean;
  readonly #replies = new Replies();

  /**
   * @param account the account that the key belongs to
   * @param withoutBetas whether to act as a gateway that refuses beta headers
   */
  constructor(account: Account, withoutBetas: boolean) {
    this.#account = account;
    this.#withoutBetas = withoutBetas;
  }

  async take(asked: Asked): Promise<Refused | Taken> {
    const betas = betasOf(asked.headers);
    const refused = this.#refusalOf(asked, betas);
    if (refused !== null) return refused;
    const account = { ...this.#account, id: `${this.#account.id} ${keyDigest(asked.headers)}` };
    const { refusal, transformations, last } = await checkThinking(
      asked.body,
      account,
      betas.size > 0,
    );
    if (refusal !== null) return { status: 400, message: refusal };
    return {
      fields: betas.size > 0 ? { input_transformations: transformations } : {},
      sign: (scripted) => this.#sign(scripted, asked.body, account, last),
    };
  }

  /** Returns the refusal for everything except thinking, or null. */
  #refusalOf({ text, body, headers }: Asked, betas: ReadonlySet<string>): Refused | null {
    const unknown = this.#withoutBetas ? [...betas] : [...betas].filter((beta) => !BETAS.has(beta));
    if (unknown.length > 0) {
      return {
        status: 400,
        message: `Unexpected value(s) \`${unknown.join("\`, \`")}\` for the \`anthropic-beta\` header.`,
      };
    }
    const gone = retiredModelError(body.model);
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

  /** Signs thinking; `last` is the signature of the thinking before. */
  async #sign(
    { reply = [], stop_reason: stopReason }: ScriptedReply,
    body: JsonObject,
    account: Account,
    last: string | null,
  ): Promise<readonly ReplyBlock[]> {
    const blocks: ReplyBlock[] = [];
    let before = last;
    for (const block of reply) {
      if (!("thinking" in block) || block.signature !== undefined) {
        blocks.push(block);
        continue;
      }
      const made = await seal(body, account, block.thinking, before);
      before = made.digest;
      blocks.push({ ...block, signature: made.signature });
    }
    this.#replies.add(blocks.flatMap(wireBlocks), stopReason);
    return blocks;
  }
}

function betasOf(headers: Headers): ReadonlySet<string> {
  const named = (headers.get("anthropic-beta") ?? "").split(",").map((beta) => beta.trim());
  return new Set(named.filter((beta) => beta !== ""));
}

function messagesOf(body: JsonObject): readonly JsonObject[] {
  return Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
}

/** Converts a block of a script to its form in a conversation. */
function wireBlocks(block: ReplyBlock, place: number): readonly JsonObject[] {
  if (isScriptedUse(block)) return serverToolBlocks(block, place);
  if ("text" in block) return [{ type: "text", text: block.text }];
  if ("thinking" in block) return [{ type: "thinking", signature: block.signature }];
  if ("redacted" in block) return [{ type: "redacted_thinking", data: block.redacted }];
  return [{ type: "tool_use", id: block.tool_use.id }];
}
