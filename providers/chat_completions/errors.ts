// Parsing of error responses from Chat Completions servers.

import { isObject, textOrEmpty } from "../../base/is_object.ts";
import { answeredError, providerError } from "../http/errors.ts";
import { listOrEmpty } from "../stream/fields.ts";
import type { ProviderError } from "../types.ts";

/** Creates the error for a body. `authentication` is the hint if the key is refused. */
export function readChatError(
  body: unknown,
  headers: Headers | null,
  status: number | undefined,
  authentication: string,
): ProviderError {
  const error = answeredError(withError(body), headers, status, { authentication });
  if (TOO_LONG.test(error.message) && error.class === "other") {
    return providerError("context_overflow", error.message, { details: error.details });
  }
  return TAKES_NO_TOOLS.test(error.message) ? { ...error, next: WITHOUT_TOOLS } : error;
}

/** Matches how llama.cpp, Moonshot and LM Studio report that a conversation is too long. */
const TOO_LONG =
  /exceed_context_size|exceeds the available context size|input token length too long|exceeded model token limit|greater than the context length/i;

/** Matches how Ollama and vLLM report models or servers that cannot call tools. */
const TAKES_NO_TOOLS = /does not support tools|enable-auto-tool-choice|tool-call-parser/i;

const WITHOUT_TOOLS =
  "Use another model, start the server with its tool options, or offer no tools: `tools: []` in the settings.";

/** Normalizes errors of servers built on FastAPI: `{detail: "…"}` and `{detail: [{msg, loc}]}`. */
function withError(body: unknown): unknown {
  if (!isObject(body) || body.error !== undefined || body.detail === undefined) return body;
  const { detail } = body;
  if (typeof detail === "string") return { error: detail };
  const sentences = listOrEmpty(detail).filter(isObject).map((each) => {
    const place = listOrEmpty(each.loc).filter((step) => step !== "body").join(".");
    return place === "" ? textOrEmpty(each.msg) : `${place}: ${textOrEmpty(each.msg)}`;
  });
  return sentences.length === 0 ? body : { error: sentences.join("; ") };
}
