// OpenAI's Responses API as a provider.

import { entryHeaders } from "../http/entry_headers.ts";
import { answeredError } from "../http/errors.ts";
import { keyHint } from "../keys/hint.ts";
import { KNOWN_PROVIDERS, type KnownProvider } from "../known.ts";
import { choiceOf } from "../models/choice.ts";
import { FILES_REFUSED } from "../request/result_files.ts";
import { createFallbacks } from "../request/fallback.ts";
import { tagName } from "../request/foreign.ts";
import type { Provider, ProviderError, ServerToolAbilities } from "../types.ts";
import { buildRequest } from "./request.ts";
import { OpenAIReader } from "./stream.ts";

/** Patterns for the API's refusals, and what to leave out in a retry. */
const FALLBACKS = createFallbacks([
  [/\bws_\w+|web_search_call'?(?! *\.action)/i, "server-blocks"],
  [/web_search|max_tool_calls/i, "server-tools"],
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
]);

/** The tools that the API runs. A search opens pages too, so there is no tool for fetching. */
const SERVER_TOOLS: Omit<ServerToolAbilities, "tag"> = {
  web_search: { price: 0.01, allows: true, blocks: false },
  returnsCitations: false,
};

export const openai: Provider = openaiProvider(KNOWN_PROVIDERS.openai);

/** Creates the provider for a server that speaks the Responses API. */
export function openaiProvider(known: KnownProvider): Provider {
  const { name, keyVariables, vendor } = known;
  const readError = (body: unknown, headers: Headers | null, status?: number): ProviderError =>
    answeredError(body, headers, status, { authentication: keyHint(keyVariables, vendor?.keyHint) });
  return {
    ...known,
    defaultModel: choiceOf(name)?.standard ?? null,
    // In a cloud, thinking belongs to the resource with that address, whose keys change.
    ...(known.kind === undefined || vendor !== undefined
      ? {}
      : { owner: ({ providers }) => providers[name]?.base_url ?? null }),
    outputIncludesThoughts: true,
    // It is not known which vendors have such tools.
    ...(vendor === undefined ? { serverTools: { ...SERVER_TOOLS, tag: tagName(name) } } : {}),
    // It is not known which other vendors accept the key.
    usesCacheKey: vendor === undefined,
    // The API accepts a conversation that ends with the model's turn, but starts another reply instead of continuing.
    takesPrefill: () => false,
    buildRequest: (input) => buildRequest(input, name),
    modelList: (key, settings) => ({
      path: "/v1/models",
      headers: entryHeaders(settings, name, { key, usual: "bearer" }),
    }),
    fallbacks: FALLBACKS,
    reader: (offered = []) => new OpenAIReader({ provider: tagName(name), offered, readError }),
    readError,
  };
}
