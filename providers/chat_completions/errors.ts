// What Chat Completions servers answer with when they refuse, in the shapes of their makers.

import { isObject } from "../../base/is_object.ts";
import { answeredError, providerError } from "../http/errors.ts";
import { list, text } from "../stream/fields.ts";
import type { ProviderError } from "../types.ts";

/** The error that a body stands for. `keyVariable` is named where the key is refused. */
export function readChatError(
  body: unknown,
  headers: Headers | null,
  status: number | undefined,
  hints: { readonly keyVariable: string },
): ProviderError {
  const error = answeredError(withError(body), headers, status, {
    authentication: `Check the key in the variable ${hints.keyVariable}.`,
  });
  if (TOO_LONG.test(error.message) && error.class === "other") {
    return providerError("context_overflow", error.message, { details: error.details });
  }
  return TAKES_NO_TOOLS.test(error.message) ? { ...error, next: WITHOUT_TOOLS } : error;
}

/** What a conversation that is too long is called by llama.cpp, Moonshot and LM Studio. */
const TOO_LONG =
  /exceed_context_size|exceeds the available context size|input token length too long|exceeded model token limit|greater than the context length/i;

/** Ollama and vLLM say so of models or servers that cannot call tools. */
const TAKES_NO_TOOLS = /does not support tools|enable-auto-tool-choice|tool-call-parser/i;

const WITHOUT_TOOLS =
  "Ask another model, start the server with its options for tools, or offer no tools: `tools: []` in the settings.";

/** `{detail: "…"}` and `{detail: [{msg, loc}]}` are how servers built on FastAPI refuse. */
function withError(body: unknown): unknown {
  if (!isObject(body) || body.error !== undefined || body.detail === undefined) return body;
  const { detail } = body;
  if (typeof detail === "string") return { error: detail };
  const stated = list(detail).filter(isObject).map((each) => {
    const place = list(each.loc).filter((step) => step !== "body").join(".");
    return place === "" ? text(each.msg) : `${place}: ${text(each.msg)}`;
  });
  return stated.length === 0 ? body : { error: stated.join("; ") };
}
