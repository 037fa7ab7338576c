// The thinking parameters of Anthropic requests, depending on what the model accepts.

import type { ThinkingLevel } from "../../config/values.ts";
import type { Model, ModelThinking } from "../models/types.ts";
import type { JsonMembers } from "../request/json.ts";
import type { RequestParameters } from "../request/parameters.ts";
import { LEAST_REPLY } from "../request/checks/budget.ts";
import { isClaude } from "./names.ts";
import { levelOfBudget, resolveThinking } from "../request/thinking.ts";

/** Request members about thinking, with warnings about settings that cannot be met. */
export interface AskedThinking {
  readonly thinking?: JsonMembers;
  readonly output_config?: JsonMembers;
  /** True if the model thinks, by request or by default. */
  readonly thinks: boolean;
  readonly warnings: readonly string[];
}

/** Minimum budget of the API. */
const LEAST_BUDGET = 1024;

/**
 * Facts assumed for unknown Claude models. All Claude models since Opus 4.6 think adaptively, and some of them refuse a
 * thinking budget.
 */
const UNKNOWN_CLAUDE: ModelThinking = {
  kind: "adaptive",
  unasked: "always",
  words: ["low", "medium", "high", "max"],
};

/** Facts for any other unknown model, for which the request contains nothing that could be refused. */
const UNKNOWN: ModelThinking = { kind: "none", unasked: "off" };

/** Builds the thinking parameters for a model; `model` is null if it is not in the table. */
export function askThinking(
  parameters: RequestParameters,
  name: string,
  model: Model | null,
  maxTokens: number,
): AskedThinking {
  const facts = model?.thinking ?? (isClaude(name) ? UNKNOWN_CLAUDE : UNKNOWN);
  if (facts.kind === "adaptive") return askAdaptive(parameters, name, model, facts);
  const { effort } = parameters.own;
  const warnings = typeof effort === "string" && effort !== "" ? [noEffort(name, effort)] : [];
  return { ...askBudget(parameters, name, model, facts, maxTokens, warnings) };
}

function askAdaptive(
  parameters: RequestParameters,
  name: string,
  model: Model | null,
  facts: ModelThinking,
): AskedThinking {
  const { thinking_budget: budget, effort: own } = parameters.own;
  const wanted = resolveThinking(parameters.thinking.level, budget, model, LEAST_BUDGET);
  const explicit = typeof own === "string" && own !== "" ? own : null;
  if (wanted === null && explicit === null) return switchOff(name, facts);
  const chosen = explicit ?? wanted?.effort ?? generalEffort(parameters.thinking.level);
  // The words of an unknown model are not known to be complete.
  const isKnown = (model?.thinking ?? null) !== null;
  const effort = explicit === null || !isKnown ? chosen : strongest(facts.words ?? [], chosen);
  return {
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort },
    thinks: true,
    warnings: effort === chosen
      ? []
      : [`${name} does not support the effort ${chosen}; ${effort} is used instead.`],
  };
}

/** Switches thinking off, or requests as little as the model allows. */
function switchOff(name: string, facts: ModelThinking): AskedThinking {
  if (facts.off !== undefined) return { thinking: { type: facts.off }, thinks: false, warnings: [] };
  if (facts.unasked === "off") return { thinks: false, warnings: [] };
  const effort = facts.words?.[0] ?? "low";
  return {
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort },
    thinks: true,
    warnings: [`Thinking cannot be switched off for ${name}; the effort ${effort} is used instead.`],
  };
}

function askBudget(
  parameters: RequestParameters,
  name: string,
  model: Model | null,
  facts: ModelThinking,
  maxTokens: number,
  warnings: readonly string[],
): AskedThinking {
  const wanted = resolveThinking(
    parameters.thinking.level,
    parameters.own.thinking_budget,
    model,
    LEAST_BUDGET,
  );
  if (facts.kind === "none" || wanted === null) return { thinks: false, warnings };
  const room = maxTokens - LEAST_REPLY;
  if (room < LEAST_BUDGET) {
    const message = `${name} needs max_tokens of at least ${LEAST_BUDGET + LEAST_REPLY} to think; ` +
      `with ${maxTokens} it answers without thinking.`;
    return { thinks: false, warnings: [...warnings, message] };
  }
  return {
    thinking: { type: "enabled", budget_tokens: Math.min(wanted.budget, room) },
    ...(facts.kind === "budget+effort"
      ? { output_config: { effort: wanted.effort ?? facts.defaultEffort } }
      : {}),
    thinks: true,
    warnings: wanted.budget <= room ? warnings : [
      ...warnings,
      `The thinking budget of ${wanted.budget} is lowered to ${room}, to leave room for the reply.`,
    ],
  };
}

/** Returns the effort of a level for a model without its own words. */
function generalEffort(level: ThinkingLevel): string {
  const named = typeof level === "number" ? levelOfBudget(level) : level === false ? "high" : level;
  return named === "minimal" ? "low" : named;
}

const SCALE = ["low", "medium", "high", "xhigh", "max"];

/** Returns the wanted effort if the model accepts it; otherwise the strongest accepted effort below it. */
function strongest(words: readonly string[], wanted: string): string {
  if (words.includes(wanted) || !SCALE.includes(wanted)) return wanted;
  const known = SCALE.slice(0, SCALE.indexOf(wanted)).findLast((word) => words.includes(word));
  return known ?? words[0] ?? wanted;
}

function noEffort(name: string, effort: string): string {
  return `${name} does not accept an effort; ${effort} is ignored.`;
}
