// The token limit that flemma chooses for replies of models whose own limit is unknown.

import type { Settings } from "../../../config/settings.generated.ts";
import { findModel } from "../../models/find.ts";
import { resolveMaxTokens, resolveParameters } from "../parameters.ts";

/** Returns the reply's token limit if flemma chose it, because the model's own is unknown; null for any other limit. */
export function chosenReplyLimit(settings: Settings, provider: string, name: string): number | null {
  const { maxTokens } = resolveParameters(settings, provider);
  const model = findModel(provider, name, settings);
  const isChosen = typeof maxTokens === "string" && (model?.maxOutput ?? null) === null;
  return isChosen ? resolveMaxTokens(maxTokens, model).tokens : null;
}
