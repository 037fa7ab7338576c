// How much of the model's context window a document takes.

import type { Settings } from "../../config/settings.generated.ts";
import type { UsageRecord } from "../../cycle/types.ts";
import { type Fill, fillOf } from "../../cycle/usage/fill.ts";
import { currentModel } from "../../providers/models/choice.ts";
import { findModel } from "../../providers/models/find.ts";

/**
 * Measures the context window after the last request; before the first request, estimates it from the length of the
 * text.
 *
 * @param settings the document's settings
 * @param bytes length of the document
 * @param records usage of its requests, oldest first
 */
export function contextFill(settings: Settings, bytes: number, records: readonly UsageRecord[]): Fill {
  const model = currentModel(settings);
  const known = model === null ? null : findModel(settings.provider, model, settings);
  return fillOf(records.at(-1), bytes, known?.context ?? null);
}
