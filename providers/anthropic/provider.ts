// Anthropic's Messages API as a provider.

import { buildRequest, DEFAULT_MODEL, goesOnFromItsTurn } from "./request.ts";
import { AnthropicReader } from "./stream.ts";
import { answeredError } from "../http/errors.ts";
import type { Provider, ProviderError } from "../types.ts";

const KEY_VARIABLE = "ANTHROPIC_API_KEY";

export const anthropic: Provider = {
  name: "anthropic",
  display: "Anthropic",
  defaultBaseUrl: "https://api.anthropic.com",
  keyVariables: [KEY_VARIABLE],
  defaultModel: DEFAULT_MODEL,
  outputIncludesThoughts: true,
  takesPrefill: goesOnFromItsTurn,
  buildRequest,
  reader: (offered = []) => new AnthropicReader(offered, readError),
  readError,
};

function readError(body: unknown, headers: Headers | null, status?: number): ProviderError {
  const error = answeredError(body, headers, status, {
    authentication: `Check the key in the variable ${KEY_VARIABLE}.`,
  });
  return /invalid\W+signature\W+in\W+thinking/i.test(error.message)
    ? { ...error, next: SIGNATURE_REFUSED }
    : error;
}

/** The text of a signed block was edited, or the model is one that does not take it (known fault 71). */
const SIGNATURE_REFUSED =
  "Take the signature out of the opening tag of that thinking block, which makes it ordinary text, or delete " +
  "the block; then send again.";
