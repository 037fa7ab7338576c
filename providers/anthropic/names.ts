// Names of models in requests of the Messages API.

import type { Settings } from "../../config/settings.generated.ts";
import { choiceOf } from "../models/choice.ts";

/** Returns the model of the settings, else the provider's standard model; empty if there is none. */
export function modelName(settings: Pick<Settings, "model">, provider: string): string {
  return settings.model ?? choiceOf(provider)?.standard ?? "";
}

/** True for the name of a Claude model, also with the prefixes of a cloud, such as `us.anthropic.claude-opus-5-5`. */
export function isClaude(name: string): boolean {
  return /^(?:[\w-]+\.)*(?:anthropic\/)?claude-/.test(name);
}
