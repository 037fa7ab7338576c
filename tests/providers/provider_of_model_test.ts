// A model that is named without its provider is looked for at the provider of the settings first, then at the others.

import assert from "node:assert/strict";
import { providerOfModel } from "../../providers/keys/provider_of_model.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";

const { providers } = DEFAULT_SETTINGS;
const OPENAI = { provider: "openai", model: "gpt-6-luna" };

/** What the row shows, the settings, the variables, and the choice. */
const ROWS: readonly (readonly [
  string,
  { readonly provider: string; readonly model: string | null; readonly url?: string },
  Readonly<Record<string, string>>,
  ReturnType<typeof providerOfModel>,
])[] = [
  ["a model of another provider", { provider: "anthropic", model: "gpt-6-luna" }, {}, OPENAI],
  ["a model with its provider", { provider: "anthropic", model: "openai/gpt-6-luna" }, {}, OPENAI],
  ["the provider's own model", { provider: "anthropic", model: "claude-haiku-5-5" }, {}, null],
  ["an unknown model", { provider: "anthropic", model: "nosuch" }, {}, null],
  ["an unknown provider before the slash", { provider: "anthropic", model: "nosuch/gpt-6-luna" }, {}, null],
  ["no model", { provider: "anthropic", model: null }, {}, null],
  ["a vendor that serves models of others", { provider: "openrouter", model: "openai/gpt-6-luna" }, {}, null],
  ["another address", { provider: "anthropic", model: "gpt-6-luna", url: "http://127.0.0.1:1" }, {}, null],
  [
    "a model of two providers, without a key",
    { provider: "openai", model: "gemini-3.8-flash" },
    {},
    { provider: "gemini", model: "gemini-3.8-flash" },
  ],
  [
    "a model of two providers, with the key of the second",
    { provider: "openai", model: "gemini-3.8-flash" },
    { VERTEX_AI_ACCESS_TOKEN: "k" },
    { provider: "vertex", model: "gemini-3.8-flash" },
  ],
];

for (const [name, { url, ...settings }, variables, expected] of ROWS) {
  Deno.test(`the provider of a model that is named alone: ${name}`, () => {
    const entries = url === undefined ? providers : { [settings.provider]: { base_url: url } };
    const given = { ...settings, providers: entries as typeof providers };
    assert.deepEqual(providerOfModel(given, variables), expected);
  });
}
