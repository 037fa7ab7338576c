// OpenAI's Responses API as a provider.

import { answeredError } from "../http/errors.ts";
import { KNOWN_PROVIDERS } from "../known.ts";
import { choiceOf } from "../models/choice.ts";
import { FILES_REFUSED } from "../request/result_files.ts";
import { createFallbacks } from "../request/fallback.ts";
import type { Provider, ProviderError } from "../types.ts";
import { buildRequest } from "./request.ts";
import { OpenAIReader } from "./stream.ts";

export const openai: Provider = {
  ...KNOWN_PROVIDERS.openai,
  defaultModel: choiceOf("openai")!.standard,
  outputIncludesThoughts: true,
  usesCacheKey: true,
  // The API accepts a conversation that ends with the model's turn, but starts another reply instead of continuing.
  takesPrefill: () => false,
  buildRequest,
  fallbacks: createFallbacks([
    [/duplicate item/i, "item-ids"],
    [/encrypted content is not supported/i, "thinking"],
    [
      /required following item|without its required|required 'reasoning' item|item with id \S+ not found|encrypted[_ ]content/i,
      "earlier-thinking",
    ],
    [/prompt_cache_(?:retention|options)|extended caching/i, "retention"],
    [/reasoning\.summary|reasoning summar/i, "summary"],
    [/temperature|top_p/i, "sampling"],
    [/reasoning\.effort|reasoning_effort|'reasoning'/i, "thinking"],
    [/max_output_tokens/i, "reply-limit"],
    FILES_REFUSED,
    [/reasoning|thinking|encrypted|signature/i, "earlier-thinking"],
  ]),
  reader: (offered = []) => new OpenAIReader({ provider: "openai", offered, readError }),
  readError,
};

function readError(body: unknown, headers: Headers | null, status?: number): ProviderError {
  return answeredError(body, headers, status, {
    authentication: `Check the key in the variable ${KNOWN_PROVIDERS.openai.keyVariables[0]}.`,
  });
}
