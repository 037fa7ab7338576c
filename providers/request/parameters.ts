// The parameters of one request: the general settings, overridden by the provider's own.

import { isObject } from "../../base/is_object.ts";
import type { Parameters, Settings } from "../../config/settings.generated.ts";
import type { Thinking, ThinkingLevel } from "../../config/values.ts";
import { apiKindOf } from "../known.ts";
import type { Model } from "../models/types.ts";

/** Parameters of one request; `own` contains those that only the provider knows. */
export interface RequestParameters {
  readonly maxTokens: number | string;
  readonly temperature: number | null;
  /** Seconds of silence after which a request is canceled; 0 means never. */
  readonly timeout: number;
  /** Seconds of pings without any part of the reply after which a request is canceled. */
  readonly pingTimeout: number;
  /** Seconds within which the connection must be open. */
  readonly connectTimeout: number;
  readonly cacheRetention: "short" | "long" | "none";
  readonly thinking: Thinking;
  readonly own: Readonly<Record<string, unknown>>;
}

/**
 * While only pings arrive, the timeout is multiplied by this factor. Models may think for half an hour, but no server
 * pings for longer than the resulting time.
 */
const PINGS = 6;

/** Merges the general parameters with the provider's table, which takes precedence whatever layer it came from. */
export function resolveParameters(settings: Settings, provider: string): RequestParameters {
  const general = settings.parameters;
  const own = providerTable(general, apiKindOf(provider, settings) ?? provider);
  const timeout = pick(own.timeout, isNumber, general.timeout);
  return {
    maxTokens: pick(own.max_tokens, isCount, general.max_tokens),
    temperature: pick(own.temperature, isNumberOrNull, general.temperature),
    timeout,
    pingTimeout: timeout * PINGS,
    connectTimeout: pick(own.connect_timeout, isNumber, general.connect_timeout),
    cacheRetention: pick(own.cache_retention, isRetention, general.cache_retention),
    thinking: overlayThinking(general.thinking, own.thinking),
    own,
  };
}

/** Returns the warning about a cache retention that a request to a model or server cannot state; none for `short`. */
export function idleRetention(
  retention: RequestParameters["cacheRetention"],
  name: string,
): readonly string[] {
  return retention === "short" ? [] : [
    `cache_retention ${retention} has no effect: no request can tell ${name} how long it caches the prompt.`,
  ];
}

function providerTable(parameters: Parameters, provider: string): Readonly<Record<string, unknown>> {
  const table = new Map<string, unknown>(Object.entries(parameters)).get(provider);
  return isObject(table) ? table : {};
}

function overlayThinking(general: Thinking, own: unknown): Thinking {
  if (isLevel(own)) return { ...general, level: own };
  if (!isObject(own)) return general;
  return {
    level: pick(own.level, isLevel, general.level),
    foreign: pick(own.foreign, isForeign, general.foreign),
  };
}

function pick<T>(value: unknown, is: (value: unknown) => value is T, otherwise: T): T {
  return is(value) ? value : otherwise;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isNumberOrNull(value: unknown): value is number | null {
  return value === null || typeof value === "number";
}

function isCount(value: unknown): value is number | string {
  return typeof value === "number" || typeof value === "string";
}

function isRetention(value: unknown): value is "short" | "long" | "none" {
  return value === "short" || value === "long" || value === "none";
}

function isForeign(value: unknown): value is "preserve" | "drop" {
  return value === "preserve" || value === "drop";
}

function isLevel(value: unknown): value is ThinkingLevel {
  return typeof value === "number" || value === false ||
    ["minimal", "low", "medium", "high", "max"].some((level) => level === value);
}

/**
 * Token limit that flemma chooses for the reply of a model whose own limit is unknown; every current model allows that
 * many.
 */
export const UNKNOWN_MODEL_TOKENS = 16_000;

/** Resolves the token limit of a reply, with warnings about limits that changed it. */
export function resolveMaxTokens(
  value: number | string,
  model: Model | null,
): { readonly tokens: number; readonly warnings: readonly string[] } {
  if (typeof value === "string") return resolvePercentage(value, model);
  if (model === null) return { tokens: value, warnings: [] };
  const least = model.minOutput ?? 1;
  const tokens = Math.max(least, Math.min(model.maxOutput ?? Infinity, value));
  const limit = value > tokens ? "maximum" : "minimum";
  return {
    tokens,
    warnings: tokens === value
      ? []
      : [`max_tokens ${value} was changed to ${tokens}, the ${limit} for ${model.id}.`],
  };
}

function resolvePercentage(value: string, model: Model | null): ReturnType<typeof resolveMaxTokens> {
  const percent = /^([0-9]+)%$/.exec(value);
  if (percent === null) {
    const warning =
      `max_tokens "${value}" is neither a number nor a percentage; ${UNKNOWN_MODEL_TOKENS} is used.`;
    return { tokens: UNKNOWN_MODEL_TOKENS, warnings: [warning] };
  }
  if (model === null || model.maxOutput === null) {
    const room = model?.context ?? Infinity;
    const tokens = Math.floor(Math.min(UNKNOWN_MODEL_TOKENS, room * Number(percent[1]) / 100));
    return { tokens: Math.max(1, tokens), warnings: [] };
  }
  const { maxOutput, usualOutput = maxOutput, minOutput = 0 } = model;
  const share = Math.floor(Math.min(maxOutput, usualOutput) * Number(percent[1]) / 100);
  const tokens = Math.min(maxOutput, Math.max(share, 1024, minOutput));
  return {
    tokens,
    warnings: share > maxOutput
      ? [`max_tokens ${value} was changed to ${tokens}, the maximum for ${model.id}.`]
      : [],
  };
}
