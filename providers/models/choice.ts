// The models for requests that name none, available without loading the model table.

import { MODEL_CHOICES, STANDARD_MODELS } from "../../config/layers/model_choices.generated.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Choice } from "./types.ts";

/** Returns a provider's models for requests that name none; null for a provider whose models are not known. */
export function choiceOf(provider: string): Choice | null {
  if (!Object.hasOwn(MODEL_CHOICES, provider)) return null;
  const { $best, $cheap } = MODEL_CHOICES[provider]!;
  return { standard: STANDARD_MODELS[provider]!, best: $best!, cheap: $cheap! };
}

/** Returns the model of the settings, else the provider's standard model; null if there is none. */
export function currentModel(settings: Pick<Settings, "provider" | "model">): string | null {
  return settings.model ?? choiceOf(settings.provider)?.standard ?? null;
}
