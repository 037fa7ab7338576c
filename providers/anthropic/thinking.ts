// How a request asks an Anthropic model to think, by what the model takes.

import type { ThinkingLevel } from "../../config/values.ts";
import type { Model, ModelThinking } from "../models/types.ts";
import type { JsonValue } from "../request/json.ts";
import type { RequestParameters } from "../request/parameters.ts";
import { levelOfBudget, resolveThinking } from "../request/thinking.ts";

type Members = { readonly [key: string]: JsonValue | undefined };

/** The members of a request that are about thinking, and what of the person's wishes they do not fulfil. */
export interface AskedThinking {
  readonly thinking?: Members;
  readonly output_config?: Members;
  /** Whether the model thinks, be it because nothing keeps it from that. */
  readonly thinks: boolean;
  readonly warnings: readonly string[];
}

/** The smallest budget that the API takes. */
const LEAST_BUDGET = 1024;

/** What a new model of the house takes for certain: all since Opus 4.6 think adaptively, and refuse a budget. */
const UNKNOWN_CLAUDE: ModelThinking = {
  kind: "adaptive",
  unasked: "always",
  words: ["low", "medium", "high", "max"],
};

/** Of any other unknown model nothing is known, so nothing is asked for that could be refused. */
const UNKNOWN: ModelThinking = { kind: "none", unasked: "off" };

/** What is asked of a model of that name; `model` is null for one that is not in the table. */
export function askThinking(
  parameters: RequestParameters,
  name: string,
  model: Model | null,
  maxTokens: number,
): AskedThinking {
  const facts = model?.thinking ?? (name.startsWith("claude-") ? UNKNOWN_CLAUDE : UNKNOWN);
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
  const effort = explicit === null || model === null ? chosen : strongest(facts.words ?? [], chosen);
  return {
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort },
    thinks: true,
    warnings: effort === chosen
      ? []
      : [`${name} does not know the effort ${chosen}; ${effort} is asked for.`],
  };
}

/** Thinking that shall be off, or as little as the model can be brought to. */
function switchOff(name: string, facts: ModelThinking): AskedThinking {
  if (facts.off !== undefined) return { thinking: { type: facts.off }, thinks: false, warnings: [] };
  if (facts.unasked === "off") return { thinks: false, warnings: [] };
  const effort = facts.words?.[0] ?? "low";
  return {
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort },
    thinks: true,
    warnings: [`The thinking of ${name} cannot be switched off; the effort ${effort} is asked for instead.`],
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
  if (maxTokens <= LEAST_BUDGET) {
    const message = `${name} needs more than ${LEAST_BUDGET} max_tokens to think; ` +
      `with ${maxTokens} it answers without thinking.`;
    return { thinks: false, warnings: [...warnings, message] };
  }
  return {
    thinking: { type: "enabled", budget_tokens: Math.min(wanted.budget, maxTokens - 1) },
    ...(facts.kind === "budget+effort"
      ? { output_config: { effort: wanted.effort ?? facts.defaultEffort } }
      : {}),
    thinks: true,
    warnings,
  };
}

/** The effort of a level for a model without words of its own. */
function generalEffort(level: ThinkingLevel): string {
  const named = typeof level === "number" ? levelOfBudget(level) : level === false ? "high" : level;
  return named === "minimal" ? "low" : named;
}

const SCALE = ["low", "medium", "high", "xhigh", "max"];

/** The word itself where the model knows it, else the strongest one below it. */
function strongest(words: readonly string[], wanted: string): string {
  if (words.includes(wanted) || !SCALE.includes(wanted)) return wanted;
  const known = SCALE.slice(0, SCALE.indexOf(wanted)).findLast((word) => words.includes(word));
  return known ?? words[0] ?? wanted;
}

function noEffort(name: string, effort: string): string {
  return `${name} takes no effort; ${effort} is left out.`;
}
