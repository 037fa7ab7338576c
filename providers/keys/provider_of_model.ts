// The provider of a model that a person names without its provider.

import type { Settings } from "../../config/settings.generated.ts";
import { KNOWN_PROVIDERS } from "../known.ts";
import { findModel } from "../models/find.ts";
import { listedProviders } from "../models/table.ts";

/** A provider, and the name by which it knows the model. */
export interface ProviderChoice {
  readonly provider: string;
  readonly model: string;
}

/**
 * Returns the provider that has the model of the settings if the provider of the settings does not have it. Of several,
 * the first whose key is in the environment is chosen. Null if the provider stays: it has the model, it may serve models
 * of any provider, or no provider is known to have the model.
 */
export function providerOfModel(
  settings: Pick<Settings, "provider" | "model" | "providers">,
  variables: Readonly<Record<string, string>>,
): ProviderChoice | null {
  const { provider, model } = settings;
  const known = listedProviders();
  const servesAny = !known.includes(provider) || (settings.providers[provider]?.base_url ?? null) !== null;
  if (model === null || servesAny || findModel(provider, model, settings) !== null) return null;
  const slash = model.indexOf("/");
  const named = model.slice(0, Math.max(slash, 0));
  if (known.includes(named)) return { provider: named, model: model.slice(slash + 1) };
  const makers = known.filter((name) => findModel(name, model) !== null);
  const hasKey = (name: string) => keyVariables(name).some((variable) => variables[variable]);
  const maker = makers.find(hasKey) ?? makers[0];
  return maker === undefined ? null : { provider: maker, model };
}

function keyVariables(provider: string): readonly string[] {
  return (KNOWN_PROVIDERS as Readonly<Record<string, { keyVariables: readonly string[] }>>)[provider]
    ?.keyVariables ?? [];
}
