// Warnings about the chosen model before a request is sent.

import { nearest } from "../../base/names.ts";
import { findModel, isGone, modelsOf } from "./find.ts";
import type { Day, Model } from "./types.ts";

/** Days before a model's end from which to warn. */
const NOTICE = 30;

/**
 * Returns warnings about a model that is unknown, gone, or ends soon.
 *
 * @param name the model's name in the request
 * @param model known facts, or null
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
    if (isNewer(name, known)) {
      return [`The model ${name} is newer than the table of known models; it is used as given.`];
    }
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
  return [`The model ${name} will be retired on ${ends}.${instead}`];
}

/**
 * Returns a sentence if another model answered than was requested, as gateways and fallbacks do, because the price of
 * the answering model applies. Null if the name is an alias of the requested model.
 */
export function otherModel(provider: string, asked: string, answering: string): string | null {
  const same = answering === asked || answering.startsWith(`${asked}-`) ||
    findModel(provider, asked)?.id === (findModel(provider, answering)?.id ?? answering);
  return same ? null : `The reply is from ${answering} instead of the requested model ${asked}.`;
}

/** True if a name continues the numbers of a known family of models, so that it is new instead of misspelled. */
function isNewer(name: string, known: readonly Model[]): boolean {
  const family = familyOf(name);
  const relatives = known.flatMap(({ id, aliases = [] }) => [id, ...aliases]).filter((other) =>
    other !== name && familyOf(other) === family
  );
  return relatives.length > 0 && relatives.every((other) => isAbove(numbersIn(name), numbersIn(other)));
}

/** Numbers of a version, such as `5-5` or `6.1`. */
const VERSION = /\d+(?:[.-]\d+)*/g;

function familyOf(name: string): string {
  return name.replace(VERSION, "#");
}

function numbersIn(name: string): readonly number[] {
  return [...name.matchAll(/\d+/g)].map(Number);
}

/** True if the first differing number is higher; a missing number counts as 0. */
function isAbove(numbers: readonly number[], others: readonly number[]): boolean {
  const at = Array.from({ length: Math.max(numbers.length, others.length) }, (_, index) => index)
    .find((index) => (numbers[index] ?? 0) !== (others[index] ?? 0));
  return at !== undefined && (numbers[at] ?? 0) > (others[at] ?? 0);
}

function daysBetween(from: Day, to: Day): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000;
}
