// Translation of the general thinking setting to a token budget and an effort for one model.

import type { ThinkingLevel } from "../../config/values.ts";
import type { Model, NamedLevel } from "../models/types.ts";

export interface ThinkingRequest {
  /** Number of tokens for thinking. */
  readonly budget: number;
  /** The effort in the model's own word, for models that take one. */
  readonly effort: string | null;
}

const GENERAL_BUDGETS: Readonly<Record<NamedLevel, number>> = {
  minimal: 128,
  low: 2048,
  medium: 8192,
  high: 16384,
  max: 32768,
};

/**
 * Resolves thinking for a provider with token budgets. If `explicitBudget`, the provider's parameter `thinking_budget`,
 * is set, it overrides `level`; any value but a positive number switches thinking off. The result is null if thinking
 * is off. `leastBudget` is the provider's minimum.
 */
export function resolveThinking(
  level: ThinkingLevel,
  explicitBudget: unknown,
  model: Model | null,
  leastBudget: number,
): ThinkingRequest | null {
  if (explicitBudget !== undefined && explicitBudget !== null) {
    return typeof explicitBudget === "number" && explicitBudget > 0
      ? fromNumber(explicitBudget, model, leastBudget)
      : null;
  }
  if (level === false || (typeof level === "number" && level <= 0)) return null;
  if (typeof level === "number") return fromNumber(level, model, leastBudget);
  const budget = clamp(namedBudget(level, model), model, leastBudget);
  return { budget, effort: model?.thinking?.efforts?.[level] ?? null };
}

function fromNumber(tokens: number, model: Model | null, leastBudget: number): ThinkingRequest {
  const budget = clamp(Math.floor(tokens), model, leastBudget);
  return { budget, effort: model?.thinking?.efforts?.[levelOfBudget(budget)] ?? null };
}

function namedBudget(level: NamedLevel, model: Model | null): number {
  const { budgets, maxBudget } = model?.thinking ?? {};
  if (budgets === undefined) return GENERAL_BUDGETS[level];
  if (level === "max") return maxBudget ?? budgets.high ?? GENERAL_BUDGETS.max;
  return budgets[level] ?? GENERAL_BUDGETS[level];
}

function clamp(tokens: number, model: Model | null, leastBudget: number): number {
  const { minBudget = leastBudget, maxBudget = Infinity } = model?.thinking ?? {};
  return Math.min(Math.max(tokens, minBudget), maxBudget);
}

/** Returns the level closest to a number of tokens. */
export function levelOfBudget(tokens: number): NamedLevel {
  if (tokens <= 256) return "minimal";
  if (tokens <= 4096) return "low";
  if (tokens <= 12288) return "medium";
  return tokens <= 24576 ? "high" : "max";
}
