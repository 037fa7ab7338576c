// Checks of the Messages API that depend on the model. They use their own lists of names, so that an error in the model
// table shows up here.

import { isObject } from "../../../base/is_object.ts";
import type { JsonObject } from "../dialect.ts";

/** Matches models since Opus 4.7, which refuse thinking budgets and sampling parameters, among others. */
const NEW = /^claude-(?:opus-4-[78]|opus-[5-9]|sonnet-[5-9]|haiku-[5-9]|fable|mythos)/;
const SINCE_4_6 = /^claude-(?:opus-4-6|sonnet-4-6)/;
const ALWAYS_THINK = /^claude-(?:fable|mythos|opus-5-5)/;
const NO_FORCED_CALL = /^claude-(?:fable-5-|mythos-5-|opus-5-5|sonnet-5-5)/;
const OFF_ONLY_TO_HIGH = /^claude-(?:opus-5$|haiku-5-5)/;
const RETIRED = /^claude-(?:3|2|instant|opus-4-[01]|opus-4-2|sonnet-4-0|sonnet-4-2)/;
const FIVE_EFFORTS = ["low", "medium", "high", "xhigh", "max"];

/** Returns the error for a retired model, or null. */
export function retiredModelError(model: unknown): string | null {
  return typeof model === "string" && RETIRED.test(model) ? `model: ${model}` : null;
}

/** Returns every model rule that a request breaks. */
export function modelRefusals(body: JsonObject, betas: ReadonlySet<string>): readonly string[] {
  const model = String(body.model);
  if (!model.startsWith("claude-")) return [];
  return [
    ...thinkingProblems(body, model, betas),
    ...effortProblems(body, model),
    ...samplingProblems(body, model),
    ...choiceProblems(body, model),
    ...outputProblems(body, model),
  ];
}

/** True if the model accepts a request that begins the reply, and continues that reply. */
export function takesPrefill(body: JsonObject): boolean {
  const model = String(body.model);
  if (NEW.test(model) || SINCE_4_6.test(model) || !/^claude-/.test(model)) return false;
  return !isObject(body.thinking) || body.thinking.type === "disabled";
}

function thinkingProblems(body: JsonObject, model: string, betas: ReadonlySet<string>): readonly string[] {
  const { thinking } = body;
  if (thinking === undefined) return [];
  if (!isObject(thinking)) return ["thinking: Input should be an object"];
  const { type, display, block_binding: binding } = thinking;
  const unknown = Object.keys(thinking).filter((key) =>
    !["type", "display", "block_binding", "budget_tokens"].includes(key)
  );
  const problems = unknown.map((key) => `thinking.${key}: Extra inputs are not permitted`);
  if (binding !== undefined && !betas.has("thinking-binding-controls-2026-08-01")) {
    problems.push("thinking.block_binding: Extra inputs are not permitted");
  }
  const choice = isObject(binding) ? binding.prefix_mismatch_behavior : undefined;
  if (binding !== undefined && choice !== "error" && choice !== "drop_block") {
    problems.push("thinking.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'");
  }
  if (type !== "adaptive" && display !== undefined && type !== "enabled") {
    problems.push(`thinking.display: not supported with thinking.type.${type}`);
  }
  if (display !== undefined && display !== "summarized" && display !== "omitted" && display !== "updates") {
    problems.push("thinking.display: Input should be 'omitted', 'summarized' or 'updates'");
  }
  return [...problems, ...typeProblems(thinking, model, effortOf(body))];
}

/** Checks the thinking configuration against the model, the effort and its own members. */
function typeProblems(
  { type, block_binding: binding, budget_tokens: budget }: JsonObject,
  model: string,
  effort: unknown,
): readonly string[] {
  const strong = effort === "xhigh" || effort === "max";
  const when = (holds: boolean, problem: string) => holds ? [problem] : [];
  switch (type) {
    case "enabled":
      if (NEW.test(model)) {
        return [
          '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and ' +
          '"output_config.effort".',
        ];
      }
      return when(typeof budget !== "number", "thinking.enabled.budget_tokens: Field required");
    case "disabled":
      return [
        ...ALWAYS_THINK.test(model) || model === "claude-sonnet-5-5"
          ? ['"thinking.type.disabled" is not supported for this model.']
          : when(
            strong && OFF_ONLY_TO_HIGH.test(model),
            `"thinking.type.disabled" is not supported with the effort ${effort}.`,
          ),
        ...when(binding !== undefined, "thinking.block_binding: not supported with disabled thinking"),
      ];
    case "adaptive":
      return [
        ...when(
          !NEW.test(model) && !SINCE_4_6.test(model),
          "adaptive thinking is not supported on this model",
        ),
        ...when(budget !== undefined, "thinking.adaptive.budget_tokens: Extra inputs are not permitted"),
      ];
    case "between_tools":
      return [
        ...when(
          model !== "claude-sonnet-5-5",
          '"thinking.type.between_tools" is not supported for this model.',
        ),
        ...when(strong, `"thinking.type.between_tools" is not supported with the effort ${effort}.`),
        ...when(
          binding !== undefined || budget !== undefined,
          "thinking.between_tools: Extra inputs are not permitted",
        ),
      ];
    default:
      return ["thinking.type: Input tag does not match any of the expected tags"];
  }
}

function effortOf(body: JsonObject): unknown {
  return isObject(body.output_config) ? body.output_config.effort : undefined;
}

function effortProblems(body: JsonObject, model: string): readonly string[] {
  const effort = effortOf(body);
  if (effort === undefined) return [];
  if (typeof effort !== "string" || !FIVE_EFFORTS.includes(effort)) {
    return ["output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"];
  }
  const known = NEW.test(model)
    ? FIVE_EFFORTS
    : SINCE_4_6.test(model)
    ? ["low", "medium", "high", "max"]
    : model.startsWith("claude-opus-4-5")
    ? ["low", "medium", "high"]
    : [];
  if (known.length === 0) return ["output_config.effort: this model does not support the effort parameter"];
  return known.includes(effort) ? [] : [`output_config.effort: ${effort} is not supported for this model`];
}

function samplingProblems(body: JsonObject, model: string): readonly string[] {
  const { temperature, top_p, top_k, thinking } = body;
  const thinks = isObject(thinking) && thinking.type !== "disabled";
  const given = [
    ...(temperature === undefined || temperature === 1 ? [] : ["temperature"]),
    ...(top_p === undefined || top_p === 0.99 ? [] : ["top_p"]),
    ...(top_k === undefined ? [] : ["top_k"]),
  ];
  if (typeof temperature === "number" && (temperature < 0 || temperature > 1)) {
    return ["temperature: Input should be from 0 to 1"];
  }
  if (NEW.test(model)) return given.map((name) => `\`${name}\` is not supported for this model.`);
  return thinks ? given.map((name) => `\`${name}\` may only be set to its default while thinking.`) : [];
}

function choiceProblems(body: JsonObject, model: string): readonly string[] {
  const { tool_choice: choice, tools, thinking } = body;
  if (choice === undefined) return [];
  const type = isObject(choice) ? choice.type : undefined;
  if (tools === undefined) return ["tool_choice: may only be specified while providing tools"];
  if (type !== "any" && type !== "tool") return [];
  const budget = isObject(thinking) && thinking.type === "enabled";
  return NO_FORCED_CALL.test(model) || budget
    ? ['tool_choice: type "tool" and "any" are not supported for this model']
    : [];
}

function outputProblems(body: JsonObject, model: string): readonly string[] {
  const most = NEW.test(model) || SINCE_4_6.test(model) ? 128_000 : 64_000;
  return typeof body.max_tokens === "number" && body.max_tokens > most
    ? [`max_tokens: ${body.max_tokens} > ${most}, which is the maximum allowed for ${model}`]
    : [];
}
