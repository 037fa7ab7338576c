// Summarizes usage for JSON reports.

import { cacheShare, totalOf } from "../../cycle/usage/record.ts";
import type { UsageRecord } from "../../cycle/types.ts";

/** Returns the sum of the records, their cached share, and the last record; null if there are no records. */
export function usageJson(records: readonly UsageRecord[]) {
  const last = records.at(-1);
  if (last === undefined) return null;
  const total = totalOf(records);
  return { ...total, cache_share: cacheShare(total), last };
}
