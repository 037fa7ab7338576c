// The model table from models.json, in the format of public model lists. Additional members hold what those lists
// lack.

import listed from "./models.json" with { type: "json" };
import {
  type Choice,
  LEVELS,
  type Model,
  type ModelThinking,
  type NamedLevel,
  type PricePeriod,
  type TabledModel,
} from "./types.ts";
import type { Prices, Refusals } from "./types.ts";

export interface ListedProvider {
  readonly id: string;
  /** Name of another provider with the same models; this entry then contains only the differences. */
  readonly like?: string;
  readonly default: string;
  readonly best: string;
  readonly cheap: string;
  readonly models: Readonly<Record<string, Partial<ListedModel>>>;
}

interface ListedCost extends Prices {
  /** Prices of the whole request above a prompt length. There is at most one such tier. */
  readonly tiers?: readonly (Prices & { readonly tier: { readonly size: number } })[];
}

type ReasoningOption =
  | { readonly type: "effort"; readonly values: readonly string[] }
  | { readonly type: "budget_tokens"; readonly min?: number; readonly max?: number }
  | { readonly type: "toggle" };

/** A model in models.json. `types.ts` explains members that the public format does not have. */
export interface ListedModel {
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly state: Model["state"];
  readonly release_date?: string;
  readonly ends?: string;
  readonly successor?: string;
  readonly note?: string;
  readonly limit: {
    readonly context: number;
    readonly input?: number;
    readonly output: number;
    readonly usual_output?: number;
    readonly min_output?: number;
  };
  readonly cost?: ListedCost;
  readonly later_costs?: readonly (ListedCost & { readonly from: string })[];
  readonly reasoning: boolean;
  readonly reasoning_options?: readonly ReasoningOption[];
  readonly thinking?: {
    readonly adaptive?: true;
    readonly unasked: ModelThinking["unasked"];
    readonly off?: string;
    readonly off_up_to?: string;
    readonly default_effort?: string;
    readonly budgets?: ModelThinking["budgets"];
  };
  readonly refuses?: {
    readonly temperature?: Refusals["temperature"];
    readonly prefill?: Refusals["prefill"];
    readonly forced_tools?: Refusals["forcedTools"];
    readonly short_retention?: Refusals["shortRetention"];
  };
  readonly cache_ttl?: string;
  readonly min_cacheable?: number;
  readonly prefix_check?: "every account" | "new accounts";
}

const LISTED = listed as unknown as Readonly<Record<string, ListedProvider>>;

const read = new Map<string, readonly TabledModel[]>();

/** Returns the providers with known models, in display order. */
export function listedProviders(): readonly string[] {
  return Object.keys(LISTED);
}

/** Returns the known models of a provider, current ones first; empty for any other provider. */
export function listedModels(provider: string): readonly TabledModel[] {
  if (!Object.hasOwn(LISTED, provider)) return [];
  const known = read.get(provider);
  if (known !== undefined) return known;
  const { like, models } = LISTED[provider]!;
  const shared = like === undefined ? {} : LISTED[like]!.models;
  const ids = new Set([...Object.keys(shared), ...Object.keys(models)]);
  const all = [...ids].map((id) => modelOf({ ...shared[id], ...models[id] } as ListedModel));
  read.set(provider, all);
  return all;
}

/** Returns a provider's models for requests that name none. */
export function listedChoice(provider: string): Choice {
  const { default: standard, best, cheap } = LISTED[provider]!;
  return { standard, best, cheap };
}

function modelOf(entry: ListedModel): TabledModel {
  const { id, aliases, state, ends, successor, note, limit, cost, later_costs: later = [] } = entry;
  return defined({
    id,
    aliases,
    state,
    released: entry.release_date,
    ends,
    successor,
    note,
    context: limit.context,
    maxInput: limit.input,
    maxOutput: limit.output,
    usualOutput: limit.usual_output,
    minOutput: limit.min_output,
    prices: cost === undefined ? [] : [cost, ...later].map(periodOf),
    thinking: thinkingOf(entry),
    refuses: refusalsOf(entry),
    cacheTtl: entry.cache_ttl,
    minCacheable: entry.min_cacheable,
    prefixCheck: entry.prefix_check ?? "none",
  });
}

function periodOf({ tiers: [step] = [], ...period }: ListedCost): PricePeriod {
  if (step === undefined) return period;
  const { tier, ...prices } = step;
  return { ...period, above: { tokens: tier.size, ...prices } };
}

function thinkingOf({ reasoning, reasoning_options: options = [], thinking }: ListedModel): ModelThinking {
  if (!reasoning || thinking === undefined) return { kind: "none", unasked: "off" };
  const { adaptive, unasked, off, off_up_to: offUpTo, default_effort: defaultEffort, budgets } = thinking;
  const effort = options.find((option) => option.type === "effort");
  const budget = options.find((option) => option.type === "budget_tokens");
  const words = effort?.values;
  return defined({
    kind: adaptive ? "adaptive" : kindOf(effort !== undefined, budget !== undefined),
    unasked,
    off,
    offUpTo,
    words,
    efforts: words === undefined ? undefined : effortsOf(words.filter((word) => word !== off)),
    defaultEffort,
    budgets,
    minBudget: budget?.min,
    maxBudget: budget?.max,
  });
}

function kindOf(effort: boolean, budget: boolean): ModelThinking["kind"] {
  if (budget) return effort ? "budget+effort" : "budget";
  return effort ? "effort" : "switch";
}

/**
 * Maps each level of the settings to an effort of the model: the same word if the model accepts it, else the weakest
 * stronger effort, else the strongest effort.
 *
 * @param words efforts that a model accepts, weakest first, without the one that switches thinking off
 */
export function effortsOf(words: readonly string[]): Readonly<Record<NamedLevel, string>> {
  const place = (word: string) => LEVELS.findIndex((level) => level === word.toLowerCase());
  const wordOf = (level: NamedLevel) =>
    words.find((word) => place(word) >= LEVELS.indexOf(level)) ?? words.at(-1)!;
  return Object.fromEntries(LEVELS.map((level) => [level, wordOf(level)])) as Record<NamedLevel, string>;
}

function refusalsOf({ refuses = {} }: ListedModel): Refusals {
  const { temperature, prefill, forced_tools: forcedTools, short_retention: shortRetention } = refuses;
  return defined({ temperature, prefill, forcedTools, shortRetention });
}

function defined<T extends object>(facts: T): T {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as T;
}
