// Anthropic's Messages API as a replay server plays it.

import type { Asked, JsonObject } from "./dialect.ts";
import { type RequestView, viewRequest } from "./expect.ts";
import { replyFrames } from "./frames.ts";
import type { ReplyBlock, ScriptedReply } from "./script.ts";
import { answerWith } from "./wire.ts";

/** A request that the API turns down. */
export interface Refused {
  readonly status: number;
  readonly message: string;
  /** @default invalid_request_error */
  readonly type?: string;
}

/** A request that the API takes. */
export interface Taken {
  /** What the answer says of the request. */
  readonly fields: JsonObject;
  /** The blocks of a reply to it, with its thinking signed where the script gave no signature. */
  sign(scripted: ScriptedReply): Promise<readonly ReplyBlock[]>;
}

/** What the account is like whose key is used. */
export interface Account {
  /** Who it is, as the API names it. */
  readonly id: string;
  /** Made before 2026-08-31: most models let changed prefixes pass unless a request says otherwise. */
  readonly old?: boolean;
}

/** Which requests the API takes, and whose thinking. */
export interface MessagesRules {
  take(asked: Asked): Promise<Refused | Taken>;
}

/** Takes every request, and signs nothing. */
export const LENIENT_MESSAGES: MessagesRules = {
  take: () => Promise.resolve({ fields: {}, sign: ({ reply = [] }) => Promise.resolve(reply) }),
};

/**
 * Answers a request, or says why not.
 *
 * @param account whose key is used, by its id
 * @param next the next reply of the script for such a request, or why it is not given
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
