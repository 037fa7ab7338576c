// Finds a batch whose creation was not answered by what its results contain.

import { isObject } from "../../base/is_object.ts";
import { type Outcome, success } from "../../base/problem.ts";
import type { BatchHead } from "../types.ts";
import { type BatchClient, type PagedRows, textIn } from "./client.ts";

/** Milliseconds before its own record at which a batch may seem to be created, because clocks differ. */
const CLOCK_SLACK = 300_000;

/** A batch that may be the one that is looked for. */
export interface BatchCandidate {
  readonly id: string;
  /** Time of its creation in milliseconds. */
  readonly created: number;
  /** Number of its requests. */
  readonly count: number;
  /** Where its results are; null until it has ended. */
  readonly results: readonly string[] | null;
}

/**
 * Finds a batch among candidates by the ids in its results.
 *
 * @param listed the provider's list; a list that is not whole cannot prove that there is no such batch
 * @returns its id; null if it is none of them; `undecided` if that can be known only later
 */
export async function findByResults(
  client: BatchClient,
  head: BatchHead,
  { listed, candidateOf, known, items }: {
    readonly listed: PagedRows;
    /** Returns what is known about a row of the list; null if it cannot be the batch. */
    readonly candidateOf: (row: unknown) => BatchCandidate | null;
    readonly known: ReadonlySet<string>;
    readonly items: ReadonlySet<string>;
  },
): Promise<Outcome<string | null | "undecided">> {
  const since = Date.parse(head.time) - CLOCK_SLACK;
  let undecided = !listed.isWhole;
  for (const row of listed.rows) {
    const candidate = candidateOf(row);
    if (candidate === null || known.has(candidate.id)) continue;
    if (candidate.count !== head.count || candidate.created < since) continue;
    if (candidate.results === null) {
      undecided = true;
      continue;
    }
    for (const url of candidate.results) {
      const brings = await bringsItems(client, url, items);
      if (!brings.ok) return brings;
      if (brings.value) return success(candidate.id);
    }
  }
  return success(undecided ? "undecided" : null);
}

/** Returns whether results name one of our requests. */
async function bringsItems(
  client: BatchClient,
  url: string,
  items: ReadonlySet<string>,
): Promise<Outcome<boolean>> {
  const response = await client.lines(url);
  if (!response.ok) return response.problem.status === 404 ? success(false) : response;
  const text = await response.value.text();
  const brings = text.split("\n").some((line) => {
    const [, item = ""] = /"custom_id"\s*:\s*"([^"]+)"/.exec(line) ?? [];
    return items.has(item);
  });
  return success(brings);
}

/** Returns the page of a list whose rows have ids and whose member `has_more` says whether there are more. */
export function pageById(rows: readonly unknown[], body: unknown): {
  readonly rows: readonly unknown[];
  readonly after: string | null;
} {
  const last = textIn(rows.at(-1), "id");
  const hasMore = isObject(body) && body.has_more === true && last !== "";
  return { rows, after: hasMore ? last : null };
}
