// Made from providers/models/models.json by scripts/generate/models.ts (deno task generate).

/** The models that the built-in presets of models stand for, by provider. */
export const MODEL_CHOICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  anthropic: { $best: "claude-fable-5-2", $cheap: "claude-haiku-5-5" },
  openai: { $best: "gpt-6.2-astra", $cheap: "gpt-6-luna" },
  gemini: { $best: "gemini-4-carbon", $cheap: "gemini-3.5-flash-lite" },
  vertex: { $best: "gemini-4-carbon", $cheap: "gemini-3.5-flash-lite" },
  moonshot: { $best: "kimi-k3.1-pro", $cheap: "kimi-k3.1-pro" },
};

/** The model of each provider where settings name none. */
export const STANDARD_MODELS: Readonly<Record<string, string>> = {
  anthropic: "claude-sonnet-5-5",
  openai: "gpt-6.2-sol",
  gemini: "gemini-3.8-flash",
  vertex: "gemini-3.8-flash",
  moonshot: "kimi-k3.1-pro",
};
