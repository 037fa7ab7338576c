// How much a model that is told a word for it shall think.

import type { ThinkingLevel } from "../../config/values.ts";
import type { Model } from "../models/types.ts";
import { levelOfBudget } from "./thinking.ts";

/** The word that goes out, and what of the person's wishes it does not fulfil. */
export interface AskedEffort {
  /** Null when nothing is said to the model. */
  readonly effort: string | null;
  /** Whether the model thinks then. */
  readonly thinks: boolean;
  readonly warnings: readonly string[];
}

const NO_EFFORT: AskedEffort = { effort: null, thinks: false, warnings: [] };

/**
 * The effort for a model.
 *
 * @param level the general setting
 * @param explicit the provider's own word, which is stronger and goes out as it is unless the model has another for it
 * @param model what is known of it; of an unknown one nothing is asked that could be refused
 * @param name as the request names it
 */
export function resolveEffort(
  level: ThinkingLevel,
  explicit: unknown,
  model: Model | null,
  name: string,
): AskedEffort {
  const facts = model?.thinking;
  if (typeof explicit === "string" && explicit !== "") {
    if (facts?.kind === "none") return { ...NO_EFFORT, warnings: [notThinking(name, explicit)] };
    const effort = facts?.words?.includes(explicit) ? explicit : translate(explicit, facts?.efforts);
    return { effort, thinks: effort !== facts?.off && effort !== "none", warnings: [] };
  }
  if (facts === undefined || facts.kind !== "effort") return NO_EFFORT;
  if (level === false || (typeof level === "number" && level <= 0)) {
    if (facts.off !== undefined) return { effort: facts.off, thinks: false, warnings: [] };
    if (facts.unasked === "off") return NO_EFFORT;
    const effort = facts.words?.[0] ?? null;
    return { effort, thinks: true, warnings: [cannotBeOff(name, effort)] };
  }
  const named = typeof level === "number" ? levelOfBudget(level) : level;
  return { effort: facts.efforts?.[named] ?? facts.defaultEffort ?? null, thinks: true, warnings: [] };
}

function translate(word: string, efforts: Readonly<Record<string, string>> | undefined): string {
  return efforts !== undefined && Object.hasOwn(efforts, word) ? efforts[word]! : word;
}

function cannotBeOff(name: string, effort: string | null): string {
  return `The thinking of ${name} cannot be switched off; ${
    effort === null ? "it thinks as it likes" : `the effort ${effort} is asked for`
  } instead.`;
}

function notThinking(name: string, effort: string): string {
  return `${name} takes no effort; ${effort} is left out.`;
}
