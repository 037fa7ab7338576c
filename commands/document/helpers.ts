// The documents of helpers, found by the folder in which they lie, and their requests.

import type { HelperState } from "../../agent/runtime/helpers/cleaning.ts";
import type { Environment } from "../../base/environment.ts";
import { helperFolderOf } from "../../base/paths.ts";
import type { UsageRecord } from "../../cycle/types.ts";
import { recordsOf } from "../../cycle/usage/log.ts";

/** Returns the names of the helpers of a document, in alphabetical order. */
export function helperNames(document: string): readonly string[] {
  try {
    return [...Deno.readDirSync(helperFolderOf(document))].map(({ name }) => name)
      .filter((name) => name.endsWith(".chat")).map((name) => name.slice(0, -".chat".length)).sort();
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory) return [];
    throw thrown;
  }
}

/** What a helper is doing, in words. */
export const STATE_WORDS: Readonly<Record<HelperState, string>> = {
  missing: "no document",
  running: "running",
  waits: "waits for you",
  idle: "idle",
};

/** Requests of a helper. */
export interface HelperUsage {
  readonly name: string;
  readonly records: readonly UsageRecord[];
}

/** Returns the requests of each helper of a document, including those of the helpers that it asked. */
export async function helperUsage(
  environment: Environment,
  document: string,
  wanted: (record: UsageRecord) => boolean,
): Promise<readonly HelperUsage[]> {
  const all: HelperUsage[] = [];
  for (const name of helperNames(document)) {
    const path = `${helperFolderOf(document)}/${name}.chat`;
    const below = await helperUsage(environment, path, wanted);
    const own = (await recordsOf(environment, path)).filter(wanted);
    all.push({ name, records: [...own, ...below.flatMap(({ records }) => records)] });
  }
  return all.filter(({ records }) => records.length > 0);
}
