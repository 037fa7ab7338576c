// How the program interprets providers' refusals.

import assert from "node:assert/strict";
import { getProvider } from "../../providers/registry.ts";

const stated = (message: string, rest = {}) => ({ error: { message, ...rest } });

const ROWS: readonly (readonly [
  provider: string,
  status: number,
  body: unknown,
  kind: string,
  words: RegExp,
  next?: RegExp,
])[] = [
  [
    "openai",
    401,
    stated("Incorrect API key provided.", { code: "invalid_api_key" }),
    "authentication",
    /Incorrect/,
    /OPENAI_API_KEY/,
  ],
  [
    "openai",
    400,
    stated("This model's maximum context length is 400 tokens."),
    "context_overflow",
    /maximum/,
    /flemma compact FILE/,
  ],
  [
    "vertex",
    401,
    [{ error: { message: "No.", status: "UNAUTHENTICATED" } }],
    "authentication",
    /\(Status: UNAUTHENTICATED\)/,
    /VERTEX_ACCESS_TOKEN/,
  ],
  [
    "gemini",
    400,
    stated("API key not valid. Please pass a valid API key.", { status: "INVALID_ARGUMENT" }),
    "authentication",
    /not valid/,
    /GEMINI_API_KEY/,
  ],
  [
    "gemini",
    400,
    stated("No.", { status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] }),
    "authentication",
    /No\./,
    /GEMINI_API_KEY/,
  ],
  [
    "gemini",
    400,
    stated("Invalid.", {
      status: "INVALID_ARGUMENT",
      details: [{ fieldViolations: [{ description: "a: too long" }, { description: "b: odd" }] }],
    }),
    "other",
    /^Invalid\. \(Status: INVALID_ARGUMENT\)\na: too long\nb: odd$/,
  ],
  [
    "gemini",
    429,
    stated("Resource has been exhausted.", { status: "RESOURCE_EXHAUSTED" }),
    "rate_limit",
    /exhausted/,
  ],
  ["gemini", 500, "<html>Oh</html>", "other", /HTTP 500: .*Oh/],
  [
    "moonshot",
    400,
    stated("Invalid request: Your request exceeded model token limit: 8192"),
    "context_overflow",
    /token limit/,
    /flemma compact FILE/,
  ],
  [
    "openai_chat",
    400,
    stated("the request exceeds the available context size", { type: "exceed_context_size_error" }),
    "context_overflow",
    /available/,
    /flemma compact FILE/,
  ],
  [
    "openai_chat",
    400,
    stated("registry.ollama.ai/library/gemma:2b does not support tools"),
    "other",
    /gemma/,
    /tools: \[\]/,
  ],
  [
    "openai_chat",
    400,
    { object: "error", message: '"auto" tool choice requires --enable-auto-tool-choice' },
    "other",
    /auto/,
    /tool options/,
  ],
  ["openai_chat", 404, { error: "model 'qwen9' not found" }, "other", /qwen9/],
  ["openai_chat", 422, { detail: "Unprocessable" }, "other", /Unprocessable/],
  ["openai_chat", 401, { detail: "Not authenticated" }, "authentication", /Not/, /OPENAI_CHAT_API_KEY/],
];

for (const [name, status, body, kind, words, next] of ROWS) {
  Deno.test(`an error of ${name} is classified and explained: ${status} ${JSON.stringify(body).slice(0, 60)}`, async () => {
    const provider = await getProvider(name);
    assert.ok(provider.ok);
    const error = provider.value.readError(body, new Headers(), status);
    assert.equal(error.class, kind, error.message);
    assert.match(error.message, words);
    if (next !== undefined) assert.match(error.next ?? "", next);
  });
}
