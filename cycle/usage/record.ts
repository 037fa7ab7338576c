// Records of what one request used and cost, and their sums. Pure.

import type { Settings } from "../../config/settings.generated.ts";
import { dayOf, findModel, pricesAt } from "../../providers/models/find.ts";
import type { Model } from "../../providers/models/types.ts";
import { otherModel } from "../../providers/models/warnings.ts";
import type { Usage } from "../../providers/types.ts";
import { costOf, promptTokens } from "../../providers/models/usage.ts";
import type { UsageRecord } from "../types.ts";

/** A request as its sender knows it. */
export type UsedRequest = Omit<UsageRecord, "time" | "prices" | "cost" | "context"> & {
  readonly begun: Date;
};

/** What the cost of a request depends on in addition to its tokens. */
export interface Pricing {
  /** The user's own models, and prices that override the built-in ones. */
  readonly settings: Pick<Settings, "providers">;
  /** The model that answered, whose prices apply; null if it is the requested one. */
  readonly answered?: string | null;
  readonly outputIncludesThoughts: boolean;
  /** Dollars for one search by the provider; null if unknown. @default searches cost nothing */
  readonly searchPrice?: number | null;
  readonly retention: "short" | "long" | "none";
}

/** Returns the record of a request, at the prices of its day and for the length of its prompt. */
export function recordOf({ begun, ...request }: UsedRequest, { settings, ...options }: Pricing): UsageRecord {
  const { provider, model, usage } = request;
  const known = findModel(provider, model, settings);
  const priced = answeringModel(request, settings, options.answered ?? model);
  const prices = priced === null ? null : pricesAt(priced, dayOf(begun), promptTokens(usage));
  // Elsewhere, the setting does not make the provider keep its cache longer.
  const isKept = (settings.providers[provider]?.kind ?? provider) === "anthropic" ||
    priced?.cacheTtl !== undefined;
  const retention = isKept ? options.retention : "short";
  return {
    time: begun.toISOString(),
    ...request,
    seconds: Math.round(request.seconds * 1000) / 1000,
    context: known?.context ?? null,
    prices,
    cost: prices === null ? null : costOf(usage, prices, { ...options, retention })?.total ?? null,
  };
}

/** Returns the model whose prices apply: the one that answered, unless its name is only another name of the same. */
function answeringModel(
  { provider, model }: Pick<UsedRequest, "provider" | "model">,
  settings: Pick<Settings, "providers">,
  answered: string,
): Model | null {
  const isOther = otherModel(provider, model, answered) !== null;
  return findModel(provider, isOther ? answered : model, settings);
}

/** The sum of several requests. */
export interface UsageTotal extends Omit<Usage, "tier" | "searches"> {
  /** Number of requests. */
  readonly requests: number;
  /** Dollars of the requests whose cost is known; null if no cost of any request is known. */
  readonly cost: number | null;
  /** Number of requests whose cost is unknown. */
  readonly unpriced: number;
}

const NO_TOTAL = {
  requests: 0,
  input: 0,
  output: 0,
  thoughts: 0,
  cache_read: 0,
  cache_write: 0,
  cost: 0,
  unpriced: 0,
};

export function totalOf(records: readonly UsageRecord[]): UsageTotal {
  const total = records.reduce((sum, { usage, cost }) => ({
    requests: sum.requests + 1,
    input: sum.input + usage.input,
    output: sum.output + usage.output,
    thoughts: sum.thoughts + usage.thoughts,
    cache_read: sum.cache_read + usage.cache_read,
    cache_write: sum.cache_write + usage.cache_write,
    cost: sum.cost + (cost ?? 0),
    unpriced: sum.unpriced + (cost === null ? 1 : 0),
  }), NO_TOTAL);
  return { ...total, cost: total.unpriced > 0 && total.unpriced === total.requests ? null : total.cost };
}

/** Returns the share of the sent tokens that the provider had cached, from 0 to 1; null if nothing was sent. */
export function cacheShare(usage: Usage): number | null {
  const sent = promptTokens(usage);
  return sent === 0 ? null : usage.cache_read / sent;
}

/** Parses a line of the log; null if it is partial or not a record. */
export function readRecord(line: string): UsageRecord | null {
  try {
    const value = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch {
    // A full disk or a crash can leave a partial line.
    return null;
  }
}

const COUNTERS: readonly Exclude<keyof Usage, "tier" | "searches">[] = [
  "input",
  "output",
  "thoughts",
  "cache_read",
  "cache_write",
];

function isRecord(value: UsageRecord | null): value is UsageRecord {
  return typeof value?.time === "string" && typeof value.provider === "string" &&
    typeof value.model === "string" && (value.cost === null || typeof value.cost === "number") &&
    COUNTERS.every((name) => typeof value.usage?.[name] === "number");
}
