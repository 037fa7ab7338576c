// Formats token counts, money and usage for people: `12,345 tokens`, `$0.0312`.

import type { CycleEvent } from "../../cycle/types.ts";
import { cacheShare, totalOf, type UsageTotal } from "../../cycle/usage/record.ts";
import type { Fill } from "../../cycle/usage/fill.ts";
import type { UsageRecord } from "../../cycle/types.ts";
import { promptTokens } from "../../providers/models/usage.ts";

/** Formats a count, rounded, with commas between thousands. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A size in bytes with one unit, such as `1.2 GB`. */
export function sizeWords(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const step = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const amount = bytes / 1000 ** step;
  return `${amount < 10 && step > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[step]}`;
}

/**
 * Formats dollars: two decimals from $1, three from $0.01, else four. Zeros at the end are removed after the second
 * decimal, and whole amounts have no decimals.
 */
export function money(dollars: number): string {
  if (dollars === 0) return "$0";
  if (dollars < 0.00005) return "less than $0.0001";
  const decimals = dollars >= 1 ? 2 : dollars >= 0.01 ? 3 : 4;
  const [whole = "0", rest = ""] = dollars.toFixed(decimals).split(".");
  const shown = rest.slice(0, 2) + rest.slice(2).replace(/0+$/, "");
  return `$${formatCount(Number(whole))}${/^0*$/.test(shown) ? "" : `.${shown}`}`;
}

/** Formats a share as a whole percentage, rounded down so that it never exceeds the real share. */
export function percent(share: number): string {
  return share > 0 && share < 0.01 ? "less than 1 %" : `${Math.floor(share * 100)} %`;
}

/** Formats usage, as in `12,345 tokens in (87 % from the cache), 234 out, $0.05`. */
export function usageWords(total: UsageTotal, { prices = true } = {}): string {
  const sent = total.input + total.cache_read + total.cache_write;
  const share = cacheShare(total);
  const cached = share === null || total.cache_read === 0 ? "" : ` (${percent(share)} from the cache)`;
  return [
    `${formatCount(sent)} ${sent === 1 ? "token" : "tokens"} in${cached}`,
    `${formatCount(total.output)} out`,
    ...(prices ? [costWords(total)] : []),
  ].join(", ");
}

/** Returns how full the context window was at the end of a request; empty if the window's size is unknown. */
export function windowWords({ context, usage }: UsageRecord): string {
  if (typeof context !== "number") return "";
  return `${percent((promptTokens(usage) + usage.output) / context)} of the window`;
}

/** Formats how full the window is, as in `about 12,345 tokens, 61 % of the window`. */
export function fillWords({ tokens, share, estimated }: Fill): string {
  const part = share === null ? "" : `, ${percent(share)} of the window`;
  return `${estimated ? "about " : ""}${formatCount(tokens)} tokens${part}`;
}

/**
 * Returns one line about what a run used; null if no usage was reported. `before` is the usage of the document before
 * the run.
 */
export function runWords(
  records: readonly UsageRecord[],
  before: UsageTotal | null,
  { prices }: { readonly prices: boolean },
): string | null {
  const last = records.at(-1);
  if (last === undefined) return null;
  const run = totalOf(records);
  const total = before === null ? run : plus(before, run);
  const so = prices && total.requests > run.requests && total.cost !== null ? costWords(total) : null;
  return [
    `${last.model}: ${usageWords(run, { prices })}`,
    ...(so === null ? [] : [`this document so far ${so}`]),
    windowWords(last),
  ].filter((words) => words !== "").join("; ");
}

function plus(a: UsageTotal, b: UsageTotal): UsageTotal {
  const sums = Object.fromEntries(
    (Object.keys(a) as (keyof UsageTotal)[]).map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]),
  ) as unknown as UsageTotal;
  return { ...sums, cost: a.cost === null && b.cost === null ? null : sums.cost };
}

/** Returns the known cost of the requests, and how many of them have no known price. */
export function costWords({ cost, unpriced }: UsageTotal): string {
  if (cost === null) return "price unknown";
  if (unpriced === 0) return money(cost);
  return `${money(cost)} and ${unpriced} request${unpriced === 1 ? "" : "s"} of unknown price`;
}

/** Returns what a person sees when a run compacts its document because the context window is full. */
export function compactedSentence(
  { archive, before, after, cost }: Extract<CycleEvent, { readonly event: "context:compacted" }>,
): string {
  const price = cost === 0
    ? ""
    : cost === null
    ? "; the price of the summary is unknown"
    : `; the summary cost $${cost.toPrecision(2)}`;
  return `The context window was full, so the document was compacted: about ${
    formatCount(before)
  } tokens became ` +
    `${formatCount(after)}${price}. The complete document is ${archive}.`;
}
