// Inputs of calls as they stream: whole ones are taken as they stand, anything else makes the reply an error (S14).

import { compactJson } from "../../base/text/json_text.ts";
import { isObject } from "../../base/is_object.ts";
import { providerError } from "../http/errors.ts";
import type { ProviderError } from "../types.ts";
import { JsonObjectReader } from "./json_object.ts";
import { LongText } from "../../base/text/long_text.ts";

/**
 * The input as the model wrote it when it is a whole JSON object, else null; with `compact` without the blanks between its
 * tokens. No text at all means `{}`. A long one is taken away from `json`.
 */
export function callInput(
  json: string | LongText,
  { compact = false }: { readonly compact?: boolean } = {},
): string | LongText | null {
  const given = LongText.of(json);
  if (typeof given !== "string") return longInput(given, compact);
  const source = given.trim();
  if (source === "") return "{}";
  try {
    if (!isObject(JSON.parse(source))) return null;
    return compact ? compactJson(source) : source;
  } catch {
    return null;
  }
}

/** Whether what came of an input is whole; nothing is taken of it. */
export function isCallInput(json: LongText): boolean {
  const given = json.value;
  if (typeof given === "string") return callInput(given) !== null;
  const reader = new JsonObjectReader({ compact: false });
  for (const part of given.parts()) reader.read(part);
  return reader.isWhole;
}

function longInput(json: LongText, compact: boolean): LongText | null {
  const reader = new JsonObjectReader({ compact });
  json.rewrite((part) => reader.read(part));
  return reader.isWhole ? json : null;
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
