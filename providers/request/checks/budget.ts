// The check that a budget for thinking leaves room for the reply.

import type { Problem } from "../../../base/problem.ts";
import type { Settings } from "../../../config/settings.generated.ts";
import { currentModel } from "../../models/choice.ts";
import { findModel } from "../../models/find.ts";
import { resolveMaxTokens, resolveParameters } from "../parameters.ts";

/** Fewest tokens of a reply, in addition to its thinking. */
export const LEAST_REPLY = 1024;

/** Returns the problem if the person's number of tokens for thinking leaves too few for the reply; else null. */
export function budgetObstacle(provider: string, settings: Settings): Problem | null {
  const name = currentModel({ provider, model: settings.model });
  const model = name === null ? null : findModel(provider, name, settings);
  const kind = model?.thinking?.kind;
  if (kind !== "budget" && kind !== "budget+effort") return null;
  const parameters = resolveParameters(settings, provider);
  const budget = parameters.own.thinking_budget ?? parameters.thinking.level;
  if (typeof budget !== "number" || budget <= 0) return null;
  const { tokens } = resolveMaxTokens(parameters.maxTokens, model);
  if (tokens - budget >= LEAST_REPLY) return null;
  return {
    code: "thinking-budget-too-large",
    message: `A thinking budget of ${budget} tokens leaves ${
      Math.max(0, tokens - budget)
    } of ${tokens} (max_tokens) for the reply of ${name}; it needs at least ${LEAST_REPLY}.`,
    next: "Raise parameters.max_tokens, or lower the budget.",
  };
}
