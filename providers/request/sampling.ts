// Sampling parameters of a request: those that the model refuses are left out with a warning.

import type { Model } from "../models/types.ts";

/**
 * Returns the temperature to send, or undefined.
 *
 * @param temperature the person's setting; null leaves it to the provider
 * @param thinks whether the model thinks in this request
 */
export function sentTemperature(
  temperature: number | null,
  model: Model | null,
  thinks: boolean,
): { readonly temperature: number | undefined; readonly warnings: readonly string[] } {
  if (temperature === null) return { temperature: undefined, warnings: [] };
  const refused = model?.refuses?.temperature;
  if (model === null || refused === undefined || (refused === "thinking" && !thinks)) {
    return { temperature, warnings: [] };
  }
  const when = refused === "thinking" ? " while it thinks" : "";
  return {
    temperature: undefined,
    warnings: [`${model.id} does not accept a temperature${when}; ${temperature} is ignored.`],
  };
}
