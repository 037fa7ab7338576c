// The setting that says what happens to earlier thinking when text before it has changed.

import type { Settings } from "../../config/settings.generated.ts";
import { choiceOf } from "../models/choice.ts";
import { findModel } from "../models/find.ts";
import { resolveParameters } from "../request/parameters.ts";

export type Binding = "drop" | "error" | "off";

/** Name of the beta with which a request sets this behavior, and the response reports dropped thinking. */
export const BINDING_BETA = "thinking-binding-controls-2026-08-01";

/** Returns the person's choice; null for a model that does not check the text before its thinking. */
export function bindingOf(settings: Settings): Binding | null {
  if (!checks(settings.model ?? choiceOf("anthropic")!.standard, settings)) return null;
  const { binding } = resolveParameters(settings, "anthropic").own;
  return binding === "error" || binding === "off" ? binding : "drop";
}

/**
 * True if the model of the settings can read another model's thinking. Models older than the check cannot read
 * thinking of models with it; models with the check report in their responses what they cannot read.
 */
export function canRead(settings: Settings, writer: string): boolean {
  return checks(settings.model ?? choiceOf("anthropic")!.standard, settings) || !checks(writer, settings);
}

/**
 * Returns whether a model checks the text before its thinking. An unknown Claude model is assumed to check it, as all
 * current ones do.
 */
function checks(name: string, settings: Settings): boolean {
  const prefixCheck = findModel("anthropic", name, settings)?.prefixCheck ?? null;
  return prefixCheck === null ? name.startsWith("claude-") : prefixCheck !== "none";
}
