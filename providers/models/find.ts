// Lookup of a model by provider and name, and of its prices by day and prompt length.

import type { Settings } from "../../config/settings.generated.ts";
import { ownModel } from "./own.ts";
import { listedModels } from "./table.ts";
import type { Day, Model, Prices } from "./types.ts";

export type ModelSettings = Pick<Settings, "providers">;

/**
 * Returns the known models of a provider, current ones first; empty for any other provider.
 *
 * @param settings settings that add models or change known ones. @default none
 */
export function modelsOf(provider: string, settings?: ModelSettings): readonly Model[] {
  const known = listedModels(provider);
  const own = Object.keys(settings?.providers[provider]?.models ?? {});
  const names = new Set(known.flatMap(({ id, aliases = [] }) => [id, ...aliases]));
  return [
    ...known.map((model) => findModel(provider, model.id, settings) ?? model),
    ...own.filter((name) => !names.has(name)).map((name) => findModel(provider, name, settings)!),
  ];
}

/**
 * Finds a known model by the exact name in a request, which may be an alias; null if unknown.
 *
 * @param provider the provider's name in the settings
 * @param name the model's name in the request
 * @param settings settings that add models or change known ones. @default none
 */
export function findModel(provider: string, name: string, settings?: ModelSettings): Model | null {
  const entry = settings?.providers[provider];
  // The kind of a built-in provider has no effect.
  const kind = listedModels(provider).length > 0 ? null : entry?.kind ?? null;
  const known = tabled(provider, name) ?? servedElsewhere(name, kind);
  const configured = entry?.models ?? {};
  const own = Object.hasOwn(configured, name) ? configured[name] : undefined;
  if (own === undefined) return known;
  const like = own.like === undefined
    ? known
    : tabled(provider, own.like) ?? (kind === null ? null : tabled(kind, own.like));
  return ownModel(name, own, like);
}

/**
 * Returns what is known about a model that another server offers by its maker's name. Prices and dates are those of
 * the maker, so they are unknown. Null if the maker has no such model.
 */
function servedElsewhere(name: string, kind: string | null): Model | null {
  const maker = kind === null ? null : tabled(kind, name);
  if (maker === null) return null;
  const { context, maxInput, maxOutput, usualOutput, minOutput, thinking, refuses, prefixCheck } = maker;
  const limits = { context, maxInput, maxOutput, usualOutput, minOutput };
  return { id: name, state: "current", prices: [], ...limits, thinking, refuses, prefixCheck };
}

function tabled(provider: string, name: string): Model | null {
  return listedModels(provider).find(({ id, aliases = [] }) => id === name || aliases.includes(name)) ?? null;
}

/**
 * Returns a model's prices; null if none are known.
 *
 * @param day the day of the request
 * @param promptTokens all input tokens, including cached ones
 */
export function pricesAt(model: Model, day: Day, promptTokens: number): Prices | null {
  const period = model.prices.findLast(({ from }) => from === undefined || from <= day);
  if (period === undefined) return null;
  const { above, from: _from, ...prices } = period;
  if (above === undefined || promptTokens <= above.tokens) return prices;
  const { tokens: _tokens, ...raised } = above;
  return raised;
}

/** True if requests for a model fail on that day because its provider has ended the model. */
export function isGone(model: Model, day: Day): boolean {
  return model.state === "gone" || (model.ends !== undefined && model.ends <= day);
}

/** Returns the day in UTC at a given time. */
export function dayOf(time: Date): Day {
  return time.toISOString().slice(0, 10);
}
