// Validates the streamed inputs of calls. A complete input stays unchanged; an incomplete input makes the reply an
// error.

import { compactJson } from "../../base/text/json_text.ts";
import { isObject } from "../../base/is_object.ts";
import { JsonObjectReader } from "./json_object.ts";
import { LongText } from "../../base/text/long_text.ts";

/**
 * If the input is a complete JSON object, returns it as the model wrote it; otherwise null. `compact` removes
 * whitespace between tokens. An empty text means `{}`. A `LongText` is rewritten in place.
 */
export function completeCallInput(
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

/** True if the input received so far is complete. The check consumes no input. */
export function isCallInput(json: LongText): boolean {
  const given = json.value;
  if (typeof given === "string") return completeCallInput(given) !== null;
  const reader = new JsonObjectReader({ compact: false });
  for (const part of given.parts()) reader.read(part);
  return reader.isWhole;
}

function longInput(json: LongText, compact: boolean): LongText | null {
  const reader = new JsonObjectReader({ compact });
  json.rewrite((part) => reader.read(part));
  return reader.isWhole ? json : null;
}
