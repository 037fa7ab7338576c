// How much of the window of the model that is asked next a document takes.

import type { Settings } from "../../config/settings.ts";
import type { UsageRecord } from "../../cycle/types.ts";
import { type Fill, fillOf } from "../../cycle/usage/fill.ts";
import { currentModel } from "../../providers/models/choice.ts";
import { findModel } from "../../providers/models/find.ts";

/**
 * How full the window was by the end of the last request; before the first one by the length of the text.
 *
 * @param settings those of the document
 * @param bytes length of the document
 * @param records what its requests used, oldest first
 */
export function contextFill(settings: Settings, bytes: number, records: readonly UsageRecord[]): Fill {
  const model = currentModel(settings);
  const known = model === null ? null : findModel(settings.provider, model, settings);
  return fillOf(records.at(-1), bytes, known?.context ?? null);
}
