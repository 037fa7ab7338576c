// Requests for the model lists of providers, and parsing of the responses.

import { isObject } from "../../base/is_object.ts";
import type { ListRequest, Provider } from "../types.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { ModelSetting } from "../../config/values.ts";

/** Facts about each listed model, by name. A fact that the list does not state is absent. */
export type ListedFacts = Readonly<Record<string, ModelSetting>>;

type Row = Readonly<Record<string, unknown>>;

/** Returns how to request a provider's list; null if a key gives no access to one. `key` may be empty. */
export function listRequest(
  { modelList }: Pick<Provider, "modelList">,
  key: string,
  settings?: Pick<Settings, "providers">,
): ListRequest | null {
  if (modelList !== undefined) return modelList(key, settings);
  return { path: "/v1/models", headers: key === "" ? {} : { "authorization": `Bearer ${key}` } };
}

/**
 * Parses the body of a list; null if it is not a list. Unreadable facts of a model are skipped, and so are models that
 * are no longer served.
 */
export function readList(body: unknown): ListedFacts | null {
  const rows = isObject(body) ? body.data ?? body.models : body;
  if (!Array.isArray(rows)) return null;
  // A bare array is a list only if its entries are models.
  if (rows === body && !rows.some((row) => isObject(row) && nameOf(row) !== null)) return null;
  return Object.fromEntries(
    rows.filter(isObject).flatMap((row) => {
      const name = nameOf(row);
      return name === null || row.lifecycle === "retired" ? [] : [[name, factsOf(row)]];
    }),
  );
}

function nameOf({ id, name }: Row): string | null {
  if (typeof id === "string" && id !== "") return id;
  return typeof name === "string" && name !== "" ? name.replace(/^models\//, "") : null;
}

/** Members for the context window and the longest reply, by the makers of lists that use them. */
const CONTEXT = [
  ...["max_input_tokens", "inputTokenLimit", "context_length", "max_model_len"],
  ...["context_window", "max_context_length"],
];
const OUTPUT = ["max_tokens", "outputTokenLimit", "max_completion_tokens", "max_output_length"];

function factsOf(row: Row): ModelSetting {
  const { capabilities, meta, top_provider: top } = row;
  const context = firstCount(row, CONTEXT) ?? firstCount(meta, ["n_ctx"]);
  const output = firstCount(row, OUTPUT) ?? firstCount(top, ["max_completion_tokens"]);
  const thinking = thinkingOf(capabilities) ?? (row.thinking === false ? "none" : null);
  const off = thinking === "adaptive" ? offWord(capabilities) : null;
  const efforts = effortsIn(capabilities);
  const prices = pricesOf(row.pricing);
  const ends = endOf(row);
  return {
    ...(context === null ? {} : { context }),
    ...(output === null ? {} : { max_output: output }),
    ...(thinking === null ? {} : { thinking }),
    ...(off === null ? {} : { thinking_off: off }),
    ...(efforts.length === 0 ? {} : { efforts }),
    ...(prices === null ? {} : { prices }),
    ...(ends === null ? {} : { ends }),
  };
}

/** Returns the first of these members that is a number of tokens; null if none is. */
function firstCount(row: unknown, names: readonly string[]): number | null {
  if (!isObject(row)) return null;
  const found = names.map((name) => row[name]).find(isCount);
  return found ?? null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}

/** Returns the kind of thinking that a model's capabilities name; null if they name no known kind. */
function thinkingOf(capabilities: unknown): ModelSetting["thinking"] | null {
  const thinking = isObject(capabilities) ? capabilities.thinking : undefined;
  if (isObject(thinking) && thinking.supported === false) return "none";
  const types = thinkingTypes(capabilities);
  return types.includes("adaptive") ? "adaptive" : types.includes("enabled") ? "budget" : null;
}

/** Returns the word that switches thinking off; null if the capabilities name none. */
function offWord(capabilities: unknown): "disabled" | "between_tools" | null {
  const types = thinkingTypes(capabilities);
  return types.includes("disabled") ? "disabled" : types.includes("between_tools") ? "between_tools" : null;
}

function thinkingTypes(capabilities: unknown): readonly unknown[] {
  const thinking = isObject(capabilities) ? capabilities.thinking : undefined;
  const given = isObject(thinking) ? thinking.types ?? thinking : thinking;
  if (Array.isArray(given)) return given;
  return isObject(given) ? Object.keys(given).filter((type) => isSupported(given[type])) : [];
}

/** Efforts that a list may name, weakest first. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function effortsIn(capabilities: unknown): readonly string[] {
  const effort = isObject(capabilities) ? capabilities.effort : undefined;
  if (!isObject(effort) || effort.supported === false) return [];
  return EFFORTS.filter((word) => isSupported(effort[word]));
}

/** True for a stated capability: `true`, `{supported: true}`, or an object that does not say otherwise. */
function isSupported(value: unknown): boolean {
  return value === true || (isObject(value) && value.supported !== false);
}

/** Returns prices per million tokens; null if the list states none for input and output. */
function pricesOf(pricing: unknown): ModelSetting["prices"] | null {
  if (!isObject(pricing)) return null;
  const price = (name: string) => dollarsPerMillion(pricing[name]);
  const [input, output] = [price("prompt") ?? price("input"), price("completion") ?? price("output")];
  if (input === null || output === null) return null;
  const members = {
    cache_read: price("input_cache_read"),
    cache_write: price("input_cache_write"),
    cache_write_long: price("input_cache_write_1h"),
  };
  const caches = Object.entries(members).filter(([, dollars]) => dollars !== null);
  return { input, output, ...Object.fromEntries(caches) };
}

/**
 * Reads a price: text is dollars per token, as on OpenRouter, where 0 means free; a number is dollars per million
 * tokens, where 0 means that none is stated. Negative prices stand for prices that vary.
 */
function dollarsPerMillion(value: unknown): number | null {
  if (typeof value === "number") return value > 0 ? value : null;
  if (typeof value !== "string" || !/^\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(value)) return null;
  return Number((Number(value) * 1e6).toPrecision(12));
}

/**
 * Returns the day from which requests fail. Anthropic's day may pass while a model is still served: `retired` alone
 * says that it ended.
 */
function endOf({ retires_at, shutdown_date, expiration_date }: Row): string | null {
  const day = [retires_at, shutdown_date, expiration_date].find((value) => typeof value === "string");
  return typeof day === "string" && /^\d{4}-\d\d-\d\d(?:$|T)/.test(day) ? day.slice(0, 10) : null;
}
