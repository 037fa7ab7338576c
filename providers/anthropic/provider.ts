// Anthropic's Messages API as a provider.

import { KNOWN_PROVIDERS } from "../known.ts";
import { outline } from "./outline.ts";
import { buildRequest, DEFAULT_MODEL, goesOnFromItsTurn } from "./request.ts";
import { AnthropicReader } from "./stream.ts";
import { budgetObstacle } from "../request/checks/budget.ts";
import { createFallbacks } from "../request/fallback.ts";
import { FILES_REFUSED } from "../request/result_files.ts";
import { answeredError } from "../http/errors.ts";
import type { Provider, ProviderError, RequestFallback } from "../types.ts";

export const anthropic: Provider = {
  ...KNOWN_PROVIDERS.anthropic,
  defaultModel: DEFAULT_MODEL,
  outputIncludesThoughts: true,
  takesPrefill: goesOnFromItsTurn,
  obstacle: (settings) => budgetObstacle("anthropic", settings),
  modelList: (key) => ({
    path: "/v1/models",
    query: "limit=1000",
    headers: { "x-api-key": key, "anthropic-version": "2023-06-01" },
  }),
  buildRequest,
  outline,
  fallbacks,
  reader: (offered = []) => new AnthropicReader({ provider: "anthropic", offered, readError }),
  readError,
};

function readError(body: unknown, headers: Headers | null, status?: number): ProviderError {
  const error = answeredError(body, headers, status, {
    authentication: `Check the key in the variable ${KNOWN_PROVIDERS.anthropic.keyVariables[0]}.`,
  });
  return /invalid\W+signature\W+in\W+thinking/i.test(error.message)
    ? { ...error, next: SIGNATURE_REFUSED }
    : error;
}

/** Patterns for the API's refusals, and what to leave out in a retry. */
const FALLBACKS = createFallbacks([
  [/block_binding|thinking-binding-controls/i, "binding"],
  [
    /bound to a different conversation|blocks? .*cannot be modified|invalid\W+signature\W+in\W+thinking/i,
    "earlier-thinking",
  ],
  [/\b(?:temperature|top_p|top_k)\b/, "sampling"],
  [/max_tokens: \d+ > \d+/, "reply-limit"],
  FILES_REFUSED,
  [/image_dimensions_too_large/, "result-files"],
  [/thinking\.type|thinking\.adaptive|adaptive thinking|output_config|\beffort\b/i, "thinking"],
  [/thinking|signature/i, "earlier-thinking"],
]);

/**
 * Returns fallbacks only for requests that were refused for their content. Temporary errors are retried with the same
 * request.
 */
function fallbacks(error: ProviderError): readonly RequestFallback[] {
  const isAboutContent = /^(?:invalid_request_error|request_too_large)/.test(error.message);
  return isAboutContent ? FALLBACKS(error) : [];
}

/**
 * Matches the errors for a signed block whose text was edited, and for a signature that the model does not accept.
 */
const SIGNATURE_REFUSED =
  "Remove the signature from the opening tag of that thinking block, which makes it ordinary text, or delete " +
  "the block. Then send again.";
