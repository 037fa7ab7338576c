// Requests for the model lists of providers, and parsing of the responses.

import { isObject } from "../../base/is_object.ts";
import type { ListRequest, Provider } from "../types.ts";
import type { ModelSetting } from "../../config/values.ts";

/** Facts about each listed model, by name. */
export type ListedFacts = Readonly<Record<string, ModelSetting>>;

/** Returns how to request a provider's list; null if a key gives no access to one. `key` may be empty. */
export function listRequest({ modelList }: Pick<Provider, "modelList">, key: string): ListRequest | null {
  if (modelList !== undefined) return modelList(key);
  return { path: "/v1/models", headers: key === "" ? {} : { "authorization": `Bearer ${key}` } };
}

/** Parses the body of a list; null if it is not a list. Unreadable facts of a model are skipped. */
export function readList(body: unknown): ListedFacts | null {
  const rows = isObject(body) ? body.data ?? body.models : undefined;
  if (!Array.isArray(rows)) return null;
  return Object.fromEntries(
    rows.filter(isObject).flatMap((row) => {
      const name = nameOf(row);
      return name === null ? [] : [[name, factsOf(row)]];
    }),
  );
}

function nameOf({ id, name }: Readonly<Record<string, unknown>>): string | null {
  if (typeof id === "string" && id !== "") return id;
  return typeof name === "string" && name !== "" ? name.replace(/^models\//, "") : null;
}

function factsOf(row: Readonly<Record<string, unknown>>): ModelSetting {
  const context = count(
    row.max_input_tokens ?? row.inputTokenLimit ?? row.context_length ?? row.max_model_len,
  );
  const output = count(row.max_tokens ?? row.outputTokenLimit);
  const thinking = thinkingOf(row.capabilities);
  return {
    ...(context === null ? {} : { context }),
    ...(output === null ? {} : { max_output: output }),
    ...(thinking === null ? {} : { thinking }),
  };
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : null;
}

/** Returns the kind of thinking that a model's capabilities name; null if they name no known kind. */
function thinkingOf(capabilities: unknown): ModelSetting["thinking"] | null {
  const thinking = isObject(capabilities) ? capabilities.thinking : undefined;
  const given = isObject(thinking) ? thinking.types ?? thinking : thinking;
  const types = Array.isArray(given)
    ? given
    : isObject(given)
    ? Object.keys(given).filter((type) => given[type] !== false && given[type] !== null)
    : [];
  return types.includes("adaptive") ? "adaptive" : types.includes("enabled") ? "budget" : null;
}
