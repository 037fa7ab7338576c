// The models that a provider is asked for without a name; no table of models is read for them.

import { MODEL_CHOICES, STANDARD_MODELS } from "../../config/layers/model_choices.generated.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Choice } from "./types.ts";

/** The models of a provider without a name; null for a provider whose models are not known. */
export function choiceOf(provider: string): Choice | null {
  if (!Object.hasOwn(MODEL_CHOICES, provider)) return null;
  const { $best, $cheap } = MODEL_CHOICES[provider]!;
  return { standard: STANDARD_MODELS[provider]!, best: $best!, cheap: $cheap! };
}

/** The model that a request names: that of the settings, else the provider's usual one; null where nobody knows one. */
export function currentModel(settings: Pick<Settings, "provider" | "model">): string | null {
  return settings.model ?? choiceOf(settings.provider)?.standard ?? null;
}
