// What becomes of earlier thinking when something before it has changed (providers-2026-11, 1.3.1).

import type { Settings } from "../../config/settings.generated.ts";
import { choiceOf } from "../models/choice.ts";
import { findModel } from "../models/find.ts";
import { resolveParameters } from "../request/parameters.ts";

/** `parameters.anthropic.binding`. */
export type Binding = "drop" | "error" | "off";

/** The beta under which a request may say what shall happen, and is told what did. */
export const BINDING_BETA = "thinking-binding-controls-2026-08-01";

/** The person's choice, for a model that looks at what stands before its thinking; null for one that does not. */
export function bindingOf(settings: Settings): Binding | null {
  if (!checks(settings.model ?? choiceOf("anthropic")!.standard, settings)) return null;
  const { binding } = resolveParameters(settings, "anthropic").own;
  return binding === "error" || binding === "off" ? binding : "drop";
}

/**
 * Whether the model of the settings can read thinking of another one. Models from before the check read none of those
 * that have it; what these read of each other they say in their answers.
 */
export function canRead(settings: Settings, writer: string): boolean {
  return checks(settings.model ?? choiceOf("anthropic")!.standard, settings) || !checks(writer, settings);
}

/** A new model of the house looks at what stands before its thinking, as all of the present line do. */
function checks(name: string, settings: Settings): boolean {
  const model = findModel("anthropic", name, settings);
  return model === null ? name.startsWith("claude-") : model.prefixCheck !== undefined;
}
