// What was used, as reports in JSON have it.

import { cacheShare, totalOf } from "../../cycle/usage/record.ts";
import type { UsageRecord } from "../../cycle/types.ts";

/** The sum of records with the share from the cache and the last of them; null when there are none. */
export function usageJson(records: readonly UsageRecord[]) {
  const last = records.at(-1);
  if (last === undefined) return null;
  const total = totalOf(records);
  return { ...total, cache_share: cacheShare(total), last };
}
