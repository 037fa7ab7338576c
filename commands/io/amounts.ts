// Tokens and money for people: `12,345 tokens`, `$0.0312`.

import { cacheShare, totalOf, type UsageTotal } from "../../cycle/usage/record.ts";
import type { Fill } from "../../cycle/usage/fill.ts";
import type { UsageRecord } from "../../cycle/types.ts";
import { promptTokens } from "../../providers/usage.ts";

/** A count with commas between thousands. */
export function counted(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Dollars: two decimals from one dollar on, three from a cent on, else four; whole amounts without. */
export function money(dollars: number): string {
  if (dollars === 0) return "$0";
  if (dollars < 0.00005) return "under $0.0001";
  const decimals = dollars >= 1 ? 2 : dollars >= 0.01 ? 3 : 4;
  const [whole = "0", rest = ""] = dollars.toFixed(decimals).split(".");
  const shown = rest.slice(0, 2) + rest.slice(2).replace(/0+$/, "");
  return `$${counted(Number(whole))}${/^0*$/.test(shown) ? "" : `.${shown}`}`;
}

/** A part as whole percent, never more than it is. */
export function percent(share: number): string {
  return share > 0 && share < 0.01 ? "under 1 %" : `${Math.floor(share * 100)} %`;
}

/** `12,345 tokens in (87 % from the cache), 234 out, $0.05`. */
export function usageWords(total: UsageTotal, { prices = true } = {}): string {
  const sent = total.input + total.cache_read + total.cache_write;
  const share = cacheShare(total);
  const cached = share === null || total.cache_read === 0 ? "" : ` (${percent(share)} from the cache)`;
  return [
    `${counted(sent)} ${sent === 1 ? "token" : "tokens"} in${cached}`,
    `${counted(total.output)} out`,
    ...(prices ? [costWords(total)] : []),
  ].join(", ");
}

/** How full the window of the model was by the end of a request; empty where its size is not known. */
export function windowWords({ context, usage }: UsageRecord): string {
  if (typeof context !== "number") return "";
  return `${percent((promptTokens(usage) + usage.output) / context)} of the window`;
}

/** `about 12,345 tokens, 61 % of the window`. */
export function fillWords({ tokens, share, estimated }: Fill): string {
  const part = share === null ? "" : `, ${percent(share)} of the window`;
  return `${estimated ? "about " : ""}${counted(tokens)} tokens${part}`;
}

/**
 * What a run used, in a line; `before` is what its document had used until then. Null when nothing was told.
 */
export function runWords(
  records: readonly UsageRecord[],
  before: UsageTotal | null,
  { prices }: { readonly prices: boolean },
): string | null {
  const last = records.at(-1);
  if (last === undefined) return null;
  const run = totalOf(records);
  const shown = prices && run.unpriced < run.requests;
  const so = before !== null && before.requests > 0 && shown ? costWords(plus(before, run)) : null;
  return [
    `${last.model}: ${usageWords(run, { prices: shown })}`,
    ...(so === null ? [] : [`this document so far ${so}`]),
    windowWords(last),
  ].filter((words) => words !== "").join("; ");
}

function plus(a: UsageTotal, b: UsageTotal): UsageTotal {
  return Object.fromEntries(
    (Object.keys(a) as (keyof UsageTotal)[]).map((name) => [name, a[name] + b[name]]),
  ) as unknown as UsageTotal;
}

/** What requests cost as far as that is known. */
export function costWords({ cost, unpriced, requests }: UsageTotal): string {
  if (unpriced === 0) return money(cost);
  if (unpriced === requests) return "price unknown";
  return `${money(cost)} and ${unpriced} request${unpriced === 1 ? "" : "s"} of unknown price`;
}
