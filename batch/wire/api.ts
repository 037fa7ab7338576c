// The interface of a batch API.

import type { Outcome } from "../../base/problem.ts";
import type { BatchHead, BatchState, ItemResult } from "../types.ts";
import type { BatchClient, RefusedProblem, UnclearProblem } from "./client.ts";

/** Most requests and bytes of one batch. */
export interface BatchLimits {
  readonly requests: number;
  readonly bytes: number;
}

/** The batch API of one provider. */
export interface BatchApi {
  readonly limits: BatchLimits;
  /** Returns a request as an entry of a batch, as JSON. `body` is the JSON of the request. */
  entry(item: string, body: string, head: Pick<BatchHead, "url">): string;
  /**
   * Creates a batch.
   *
   * @returns the provider's name of the batch
   */
  create(
    client: BatchClient,
    head: BatchHead,
    entries: readonly string[],
  ): Promise<Outcome<string, UnclearProblem>>;
  /** Asks about a batch. */
  state(client: BatchClient, head: BatchHead, remote: string): Promise<Outcome<BatchState, RefusedProblem>>;
  /** Reads one row of the results; null if it is not one. */
  result(row: unknown): ItemResult | null;
  cancel(client: BatchClient, head: BatchHead, remote: string): Promise<Outcome<unknown, UnclearProblem>>;
  /**
   * Looks for a batch whose creation was not answered.
   *
   * @param ours names of the provider's batches that are in the journal already, and ids of the requests
   * @returns its name; null if there is none; `undecided` if that can be known only later
   */
  find(
    client: BatchClient,
    head: BatchHead,
    ours: { readonly known: ReadonlySet<string>; readonly items: ReadonlySet<string> },
  ): Promise<Outcome<string | null | "undecided">>;
  /** Removes what the provider stores for a batch and nobody needs any more. @default nothing */
  tidy?(client: BatchClient, head: BatchHead, remote: string): Promise<void>;
}
