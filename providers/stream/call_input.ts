// Inputs of calls as they stream: whole ones are taken as they stand, anything else makes the reply an error (S14).

import { isObject } from "../../base/is_object.ts";
import { providerError } from "../http/errors.ts";
import type { ProviderError } from "../types.ts";

/** The input as the model wrote it when it is a whole JSON object, else null. No text at all means `{}`. */
export function callInput(json: string): string | null {
  const source = json.trim();
  if (source === "") return "{}";
  try {
    return isObject(JSON.parse(source)) ? source : null;
  } catch {
    return null;
  }
}

/** The names of tools whose input did not arrive whole, each once. */
export class IncompleteCalls {
  readonly #names: string[] = [];

  /** Notes one; an empty name is that of a call whose beginning was lost. */
  add(name: string): void {
    const shown = name === "" ? "a tool whose name was lost" : name;
    if (!this.#names.includes(shown)) this.#names.push(shown);
  }

  get any(): boolean {
    return this.#names.length > 0;
  }

  /** The error of the whole reply; `cut` tells that it ended at its token limit. */
  error(cut: boolean): ProviderError {
    const names = this.#names.join(", ");
    const message = cut
      ? `The reply reached its token limit inside the input of a call to ${names}; the call was not written.`
      : `The input of a call to ${names} was no JSON object or did not arrive whole; the call was not written.`;
    return providerError("other", message, cut ? { next: "Raise the parameter max_tokens." } : {});
  }
}
