// Sampling values that go out: what a model is known to refuse is left out, and the person is told.

import type { Model } from "../models/types.ts";

/**
 * The temperature of a request, or undefined.
 *
 * @param temperature the person's; null leaves it to the provider
 * @param thinks whether the model thinks in this request
 */
export function sentTemperature(
  temperature: number | null,
  model: Model | null,
  thinks: boolean,
): { readonly temperature: number | undefined; readonly warnings: readonly string[] } {
  if (temperature === null) return { temperature: undefined, warnings: [] };
  const refused = model?.refuses.temperature;
  if (model === null || refused === undefined || (refused === "thinking" && !thinks)) {
    return { temperature, warnings: [] };
  }
  const when = refused === "thinking" ? " while it thinks" : "";
  return {
    temperature: undefined,
    warnings: [`${model.id} takes no temperature${when}; ${temperature} is left out.`],
  };
}
