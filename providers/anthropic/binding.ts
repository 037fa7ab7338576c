// The setting that says what happens to earlier thinking when text before it has changed.

import type { Settings } from "../../config/settings.generated.ts";
import { findModel } from "../models/find.ts";
import { isClaude, modelName } from "./names.ts";
import { resolveParameters } from "../request/parameters.ts";

export type Binding = "drop" | "error" | "off";

/** Name of the beta with which a request sets this behavior, and the response reports dropped thinking. */
export const BINDING_BETA = "thinking-binding-controls-2026-08-01";

/** Returns the person's choice; null for a model that does not check the text before its thinking. */
export function bindingOf(settings: Settings, provider: string): Binding | null {
  if (!checks(modelName(settings, provider), settings, provider)) return null;
  const { binding } = resolveParameters(settings, provider).own;
  return binding === "error" || binding === "off" ? binding : "drop";
}

/**
 * True if the model of the settings can read another model's thinking. Models older than the check cannot read
 * thinking of models with it; models with the check report in their responses what they cannot read.
 */
export function canRead(settings: Settings, provider: string, writer: string): boolean {
  return checks(modelName(settings, provider), settings, provider) || !checks(writer, settings, provider);
}

/**
 * Returns whether a model checks the text before its thinking. An unknown Claude model is assumed to check it, as all
 * current ones do.
 */
function checks(name: string, settings: Settings, provider: string): boolean {
  const prefixCheck = findModel(provider, name, settings)?.prefixCheck ?? null;
  return prefixCheck === null ? isClaude(name) : prefixCheck !== "none";
}
