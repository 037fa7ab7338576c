// Returns the names of models that settings may use, as far as this program knows them.

import { currentModel } from "../../providers/models/choice.ts";
import { dayOf, isGone, modelsOf } from "../../providers/models/find.ts";
import { providerNames, providersOfModel } from "../../providers/registry.ts";
import type { Settings } from "../../config/settings.generated.ts";

/** Returns the models of the current provider, without those that were shut down. */
export function modelNames(settings: Settings, now = new Date()): string[] {
  return modelsOf(settings.provider, settings).filter((model) => !isGone(model, dayOf(now))).map(({ id }) =>
    id
  );
}

/** Returns the models of other providers whose names begin with a text, each with its provider. */
export function modelsNamedLike(
  settings: Settings,
  start: string,
): readonly { readonly name: string; readonly provider: string }[] {
  return providersOfModel(start).filter((provider) => provider !== settings.provider).flatMap((provider) =>
    modelNames({ ...settings, provider }).filter((name) => name.startsWith(start))
      .map((name) => ({ name, provider }))
  );
}

/** Returns the names of providers that settings may use. */
export function providersFor(settings: Settings): readonly string[] {
  return providerNames(settings);
}

/** Returns the model that these settings select; null if none is named. */
export function modelAsked(settings: Settings): string | null {
  return currentModel(settings) ?? null;
}
