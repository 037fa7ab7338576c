// The thinking effort for models that take it as a word.

import type { ThinkingLevel } from "../../config/values.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import type { ModelThinking } from "../models/types.ts";
import { levelOfBudget } from "./thinking.ts";

/** The effort to send, with warnings about settings that cannot be met. */
export interface AskedEffort {
  /** The effort; null if the request does not mention it. */
  readonly effort: string | null;
  readonly thinks: boolean;
  readonly warnings: readonly string[];
}

const NO_EFFORT: AskedEffort = { effort: null, thinks: false, warnings: [] };

/**
 * Resolves the effort for a model.
 *
 * @param level the general setting
 * @param explicit the provider's own parameter; overrides `level`, and is sent as it is unless the model has another
 * word for it
 * @param facts how the model's thinking is configured; null if unknown, and nothing is sent that it could refuse
 * @param name the model's name in the request
 */
export function resolveEffort(
  level: ThinkingLevel,
  explicit: unknown,
  facts: ModelThinking | null,
  name: string,
): AskedEffort {
  if (typeof explicit === "string" && explicit !== "") {
    if (facts?.kind === "none") return { ...NO_EFFORT, warnings: [notThinking(name, explicit)] };
    const effort = facts?.words?.includes(explicit) ? explicit : translate(explicit, facts?.efforts);
    return { effort, thinks: effort !== facts?.off && effort !== "none", warnings: [] };
  }
  if (facts === null) return { ...NO_EFFORT, warnings: withoutEffect(level, name) };
  if (facts.kind !== "effort") return NO_EFFORT;
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
  return `Thinking cannot be switched off for ${name}; ${
    effort === null ? "its default effort" : `the effort ${effort}`
  } is used instead.`;
}

/** Returns a warning that a level other than the default one is not sent. */
function withoutEffect(level: ThinkingLevel, name: string): readonly string[] {
  if (level === DEFAULT_SETTINGS.parameters.thinking.level) return [];
  return [`flemma does not know how thinking of ${name} is configured; the level ${level} is ignored.`];
}

function notThinking(name: string, effort: string): string {
  return `${name} does not accept an effort; ${effort} is ignored.`;
}
