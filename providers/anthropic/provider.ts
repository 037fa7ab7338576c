// Anthropic's Messages API as a provider.

import { KNOWN_PROVIDERS, type KnownProvider } from "../known.ts";
import { choiceOf } from "../models/choice.ts";
import { outline } from "./outline.ts";
import { buildRequest, goesOnFromItsTurn, messagesHeaders } from "./request.ts";
import { AnthropicReader } from "./stream.ts";
import { budgetObstacle } from "../request/checks/budget.ts";
import { createFallbacks } from "../request/fallback.ts";
import { tagName } from "../request/foreign.ts";
import { FILES_REFUSED } from "../request/result_files.ts";
import { answeredError } from "../http/errors.ts";
import { keyHint } from "../keys/hint.ts";
import type { Provider, ProviderError, RequestFallback, ServerToolAbilities } from "../types.ts";

/** The tools that the API runs. Fetched pages cost only their tokens. */
const SERVER_TOOLS: Omit<ServerToolAbilities, "tag"> = {
  web_search: { price: 0.01, allows: true, blocks: true },
  web_fetch: { price: 0, allows: true, blocks: true },
  returnsCitations: true,
};

export const anthropic: Provider = anthropicProvider(KNOWN_PROVIDERS.anthropic);

/** Creates the provider for a server that speaks the Messages API. */
export function anthropicProvider(known: KnownProvider): Provider {
  const { name, keyVariables, vendor } = known;
  const readError = (body: unknown, headers: Headers | null, status?: number): ProviderError => {
    const error = answeredError(body, headers, status, {
      authentication: keyHint(keyVariables, vendor?.keyHint),
    });
    return /invalid\W+signature\W+in\W+thinking/i.test(error.message)
      ? { ...error, next: SIGNATURE_REFUSED }
      : error;
  };
  return {
    ...known,
    defaultModel: choiceOf(name)?.standard ?? null,
    outputIncludesThoughts: true,
    // Vendors that imitate the API have no such tools.
    ...(vendor === undefined ? { serverTools: { ...SERVER_TOOLS, tag: tagName(name) } } : {}),
    takesPrefill: (settings) => goesOnFromItsTurn(settings, name),
    obstacle: (settings) => budgetObstacle(name, settings),
    modelList: (key, settings = { providers: {} }) => ({
      path: "/v1/models",
      query: "limit=1000",
      headers: messagesHeaders(settings, known, key, []),
    }),
    buildRequest: (input) => buildRequest(input, known),
    outline: (input) => outline(input, name),
    fallbacks,
    reader: (offered = []) => new AnthropicReader({ provider: tagName(name), offered, readError }),
    readError,
  };
}

/** Patterns for the API's refusals, and what to leave out in a retry. */
const FALLBACKS = createFallbacks([
  [/block_binding|thinking-binding-controls|invalid beta flag/i, "binding"],
  [
    /bound to a different conversation|blocks? .*cannot be modified|invalid\W+signature\W+in\W+thinking/i,
    "earlier-thinking",
  ],
  [
    /server_tool_use|srvtoolu_|encrypted_(?:content|index)|web_(?:search|fetch)_tool_result|citations/i,
    "server-blocks",
  ],
  [/web_search|web_fetch|server tool/i, "server-tools"],
  [/\b(?:temperature|top_p|top_k)\b/, "sampling"],
  [/max_tokens: \d+ > \d+/, "reply-limit"],
  FILES_REFUSED,
  [/image_dimensions_too_large/, "result-files"],
  [/thinking\.type|thinking\.adaptive|adaptive thinking|output_config|\beffort\b/i, "thinking"],
  [/thinking|signature/i, "earlier-thinking"],
]);

/**
 * Returns fallbacks only for requests that were refused for their content. Temporary errors are retried with the same
 * request. Clouds may name no type of error.
 */
function fallbacks(error: ProviderError): readonly RequestFallback[] {
  const [, type] = /^(\w+) — /.exec(error.message) ?? [];
  const isAboutContent = type === undefined
    ? error.class === "other" && error.retry === undefined
    : /^(?:invalid_request_error|request_too_large)$/.test(type);
  return isAboutContent ? FALLBACKS(error) : [];
}

/**
 * Matches the errors for a signed block whose text was edited, and for a signature that the model does not accept.
 */
const SIGNATURE_REFUSED =
  "Remove the signature from the opening tag of that thinking block, which makes it ordinary text, or delete " +
  "the block. Then send again.";
