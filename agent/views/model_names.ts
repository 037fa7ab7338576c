// The names of models that a setting may hold, as far as this program knows them.

import { currentModel } from "../../providers/models/choice.ts";
import { dayOf, isGone, modelsOf } from "../../providers/models/find.ts";
import type { Settings } from "../../config/settings.ts";

/** The models of the provider in force, without those that are gone. */
export function modelNames(settings: Settings, now = new Date()): string[] {
  return modelsOf(settings.provider, settings).filter((model) => !isGone(model, dayOf(now))).map(({ id }) =>
    id
  );
}

/** The model that is asked under these settings; null when none is named. */
export function modelAsked(settings: Settings): string | null {
  return currentModel(settings) ?? null;
}
