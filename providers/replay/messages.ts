// Imitation of Anthropic's Messages API for replay servers.

import type { Asked, JsonObject } from "./dialect.ts";
import { type RequestView, viewRequest } from "./expect.ts";
import { replyFrames } from "./frames.ts";
import type { ReplyBlock, ScriptedReply } from "./script.ts";
import { answerWith } from "./wire.ts";

export interface Refused {
  readonly status: number;
  readonly message: string;
  /** Type of the error. @default invalid_request_error */
  readonly type?: string;
}

export interface Taken {
  /** Members that the response adds about the request. */
  readonly fields: JsonObject;
  /** Returns the blocks of a reply; signs thinking for which the script gives no signature. */
  sign(scripted: ScriptedReply): Promise<readonly ReplyBlock[]>;
}

/** The account that the API key belongs to. */
export interface Account {
  /** Id of the account, as the API reports it. */
  readonly id: string;
  /**
   * True if the account was created before 2026-08-31. For such an account, most models accept thinking after a changed
   * prefix, unless the request asks for an error.
   */
  readonly old?: boolean;
}

/** Decides which requests the API accepts, and whose thinking it accepts. */
export interface MessagesRules {
  take(asked: Asked): Promise<Refused | Taken>;
}

/** Rules that accept every request and sign nothing. */
export const LENIENT_MESSAGES: MessagesRules = {
  take: () => Promise.resolve({ fields: {}, sign: ({ reply = [] }) => Promise.resolve(reply) }),
};

/**
 * Answers a request, or returns the reason for its refusal.
 *
 * @param account id of the account that the key belongs to
 * @param next returns the script's next reply for such a request, or why there is none
 */
export async function answerMessages(
  asked: Asked,
  rules: MessagesRules,
  account: string,
  next: (view: RequestView) => ScriptedReply | string,
): Promise<Response | Refused> {
  const taken = await rules.take(asked);
  if ("message" in taken) return taken;
  const scripted = next(viewRequest(asked.body));
  if (typeof scripted === "string") return { status: 400, message: scripted };
  const reply = await taken.sign(scripted);
  const model = String(asked.body.model ?? "replay");
  const headers = { "anthropic-organization-id": account };
  return answerWith(scripted, () => replyFrames({ ...scripted, reply }, model, taken.fields), headers);
}
