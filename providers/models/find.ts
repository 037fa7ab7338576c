// Looks a model up by provider and name, and its prices by day and length of the prompt.

import type { Settings } from "../../config/settings.generated.ts";
import { ownModel } from "./own.ts";
import { listedModels } from "./table.ts";
import type { Day, Model, Prices } from "./types.ts";

/** What of the settings is about models. */
export type ModelSettings = Pick<Settings, "providers">;

/**
 * The known models of a provider, those of its present line first; empty for any other provider.
 *
 * @param settings where a person tells of further models, or otherwise of known ones. @default none do
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
 * A known model by the exact name of a request, which may be another name of it, or null.
 *
 * @param provider as settings name it
 * @param name as the request names it
 * @param settings where a person tells of further models, or otherwise of known ones. @default none do
 */
export function findModel(provider: string, name: string, settings?: ModelSettings): Model | null {
  const known = tabled(provider, name);
  const configured = settings?.providers[provider]?.models ?? {};
  const own = Object.hasOwn(configured, name) ? configured[name] : undefined;
  if (own === undefined) return known;
  const like = own.like === undefined ? known : tabled(provider, own.like);
  return ownModel(name, own, like);
}

/** A model of models.json. */
function tabled(provider: string, name: string): Model | null {
  return listedModels(provider).find(({ id, aliases = [] }) => id === name || aliases.includes(name)) ?? null;
}

/**
 * What a model costs; null where no price is known.
 *
 * @param day the day of the request
 * @param promptTokens all tokens that were sent, those that the provider had at hand included
 */
export function pricesAt(model: Model, day: Day, promptTokens: number): Prices | null {
  const period = model.prices.findLast(({ from }) => from === undefined || from <= day);
  if (period === undefined) return null;
  const { above, from: _from, ...prices } = period;
  if (above === undefined || promptTokens <= above.tokens) return prices;
  const { tokens: _tokens, ...raised } = above;
  return raised;
}

/** Whether requests for a model fail on a day, because its provider has ended it. */
export function isGone(model: Model, day: Day): boolean {
  return model.state === "gone" || (model.ends !== undefined && model.ends <= day);
}

/** The day of a moment, in UTC. */
export function dayOf(time: Date): Day {
  return time.toISOString().slice(0, 10);
}
