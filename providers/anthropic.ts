// Anthropic's Messages API as a provider.

import { buildRequest, DEFAULT_MODEL } from "./anthropic/request.ts";
import { AnthropicReader } from "./anthropic/stream.ts";
import { answeredError } from "./errors.ts";
import type { Provider, ProviderError } from "./types.ts";

const KEY_VARIABLE = "ANTHROPIC_API_KEY";

export const anthropic: Provider = {
  name: "anthropic",
  display: "Anthropic",
  defaultBaseUrl: "https://api.anthropic.com",
  keyVariables: [KEY_VARIABLE],
  defaultModel: DEFAULT_MODEL,
  outputIncludesThoughts: true,
  buildRequest,
  reader: (offered = []) => new AnthropicReader(offered, readError),
  readError,
};

function readError(body: unknown, headers: Headers | null, status?: number): ProviderError {
  return answeredError(body, headers, status, {
    authentication: `Check the key in the variable ${KEY_VARIABLE}.`,
  });
}
