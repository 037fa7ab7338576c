// What a person should hear about the model they chose before it is asked.

import { nearest } from "../../base/names.ts";
import { findModel, isGone, modelsOf } from "./find.ts";
import type { Day, Model } from "./types.ts";

/** Days before its end in which a model is told of. */
const NOTICE = 30;

/**
 * Sentences about a model that is not known, that its provider has ended, or that it will end soon.
 *
 * @param name as the request names it
 * @param model what is known of it, or null
 * @param day the day of the request
 */
export function modelWarnings(
  provider: string,
  name: string,
  model: Model | null,
  day: Day,
): readonly string[] {
  if (model === null) {
    const known = modelsOf(provider);
    if (known.length === 0) return [];
    const near = nearest(name, known.filter((other) => !isGone(other, day)).map(({ id }) => id));
    const hint = near === null ? "" : ` Did you mean ${near}?`;
    return [`The model ${name} is not in the table of known models; it is used as given.${hint}`];
  }
  const { ends, successor } = model;
  const instead = successor === undefined ? "" : ` Its successor is ${successor}.`;
  if (isGone(model, day)) {
    const since = ends === undefined ? "" : ` since ${ends}`;
    return [`The model ${name} is no longer served${since}, so the request will fail.${instead}`];
  }
  if (ends === undefined || daysBetween(day, ends) > NOTICE) return [];
  return [`The model ${name} ends on ${ends}.${instead}`];
}

/**
 * One sentence where another model answered than was asked: gateways and fallbacks do that, and it is paid for. Null for
 * the same one under another of its names.
 */
export function otherModel(provider: string, asked: string, answering: string): string | null {
  const same = answering === asked || answering.startsWith(`${asked}-`) ||
    findModel(provider, asked)?.id === (findModel(provider, answering)?.id ?? answering);
  return same ? null : `The reply is ${answering}'s, and not ${asked}'s, which was asked.`;
}

function daysBetween(from: Day, to: Day): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000;
}
