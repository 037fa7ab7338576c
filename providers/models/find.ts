// Looks a model up by provider and name, and its prices by day and length of the prompt.

import { ANTHROPIC } from "./anthropic.ts";
import { GEMINI, VERTEX } from "./google.ts";
import { MOONSHOT } from "./moonshot.ts";
import { OPENAI } from "./openai.ts";
import type { Choice, Day, Model, ModelTable, Prices } from "./types.ts";

const TABLES: ReadonlyMap<string, ModelTable> = new Map([
  ["anthropic", ANTHROPIC],
  ["openai", OPENAI],
  ["gemini", GEMINI],
  ["vertex", VERTEX],
  ["moonshot", MOONSHOT],
]);

/** The providers whose models are known, in the order in which lists show them. */
export function modelProviders(): readonly string[] {
  return [...TABLES.keys()];
}

/** The known models of a provider, those of its present line first; empty for any other provider. */
export function modelsOf(provider: string): readonly Model[] {
  return TABLES.get(provider)?.models ?? [];
}

/** The models that a provider is asked for without a name; null for a provider whose models are not known. */
export function choiceOf(provider: string): Choice | null {
  return TABLES.get(provider)?.choice ?? null;
}

/**
 * A known model by the exact name of a request, which may be another name of it, or null.
 *
 * @param provider as settings name it
 * @param name as the request names it
 */
export function findModel(provider: string, name: string): Model | null {
  return modelsOf(provider).find(({ id, aliases = [] }) => id === name || aliases.includes(name)) ?? null;
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
