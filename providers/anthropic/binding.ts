// What becomes of earlier thinking when something before it has changed (providers-2026-11, 1.3.1).

import type { Settings } from "../../config/settings.ts";
import { choiceOf, findModel } from "../models/find.ts";
import { resolveParameters } from "../request/parameters.ts";

/** `parameters.anthropic.binding`. */
export type Binding = "drop" | "error" | "off";

/** The beta under which a request may say what shall happen, and is told what did. */
export const BINDING_BETA = "thinking-binding-controls-2026-08-01";

/** The person's choice, for a model that looks at what stands before its thinking; null for one that does not. */
export function bindingOf(settings: Settings): Binding | null {
  const name = settings.model ?? choiceOf("anthropic")!.standard;
  const model = findModel("anthropic", name, settings);
  // A new model of the house looks, as all of the present line do.
  const checks = model === null ? name.startsWith("claude-") : model.prefixCheck !== undefined;
  if (!checks) return null;
  const { binding } = resolveParameters(settings, "anthropic").own;
  return binding === "error" || binding === "off" ? binding : "drop";
}
