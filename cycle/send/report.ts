// Reports that a request has ended, records its usage, and counts it against the limits of the run.

import { thrownText } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { estimateRequestTokens } from "../../providers/request/count.ts";
import { type RequestParameters, resolveParameters } from "../../providers/request/parameters.ts";
import type { ProviderError, Usage } from "../../providers/types.ts";
import type { RequestStatus, UsageRecord } from "../types.ts";
import { recordOf } from "../usage/record.ts";
import type { TimedOptions } from "./options.ts";
import type { ReadyRequest } from "./request.ts";

export interface EndedRequest {
  readonly prepared: Pick<ReadyRequest, "request" | "model" | "warnings">;
  /** Start of the request: the clock in milliseconds, and the date. */
  readonly begun: { readonly at: number; readonly date: Date };
  /** Usage that the provider reported; null if it reported none. */
  readonly usage: Usage | null;
  /** The model that answered, as the provider names it; null if it did not. */
  readonly answered: string | null;
  readonly status: RequestStatus;
  /** An error of the provider or the connection. */
  readonly error: ProviderError | null;
  /** Sentences about parts of the reply that are not in the document. */
  readonly losses: readonly string[];
}

/**
 * Reports how a request ended. If the request is not completed, also reports its warnings, because the end event does
 * not contain them.
 */
export async function reportEnd(ended: EndedRequest, options: TimedOptions): Promise<void> {
  const { prepared, status, error, losses } = ended;
  const { emit } = options;
  const record = await reportUsage(ended, options);
  const used = record === null ? {} : { record };
  if (status === "completed") {
    emit({ event: "request:finished", status, usage: ended.usage, ...used });
    return;
  }
  for (const message of [...prepared.warnings, ...losses]) {
    emit({ event: "notice", code: "request-warning", message });
  }
  emit({
    event: "request:finished",
    status,
    usage: null,
    ...used,
    ...(error === null ? {} : { error }),
  });
}

/** Records the usage of a request, and counts it against the limits of the run; null if none was reported. */
export async function reportUsage(
  ended: Omit<EndedRequest, "error" | "losses">,
  options: TimedOptions,
): Promise<UsageRecord | null> {
  const { emit, limits, usage } = options;
  const record = recordEnded(ended, options);
  if (record === null) return null;
  await keep(record, { usage, emit });
  const filling = limits.take({ rough: estimateRequestTokens(ended.prepared.request), record });
  if (filling !== null) emit({ event: "notice", code: "context-filling", message: filling });
  return record;
}

/** Returns the usage record of a request; null if the provider did not report its usage. */
function recordEnded(
  { prepared, begun, usage, status, answered }: Omit<EndedRequest, "error" | "losses">,
  { store, provider, settings, clock, insteadOf, answer }: TimedOptions,
): UsageRecord | null {
  if (usage === null) return null;
  return recordOf({
    begun: answer?.sent ?? begun.date,
    seconds:
      (answer === undefined ? clock.now() - begun.at : clock.date().getTime() - answer.sent.getTime()) / 1000,
    document: store.path,
    provider: provider.name,
    model: prepared.model,
    ended: status,
    // Some providers name the usual tier in replies of a batch.
    usage: answer === undefined ? usage : { ...usage, tier: "batch" },
    ...(insteadOf === undefined ? {} : { instead_of: insteadOf }),
    ...(answer === undefined ? {} : { item: answer.item }),
  }, {
    settings,
    answered,
    outputIncludesThoughts: provider.outputIncludesThoughts,
    searchPrice: provider.serverTools?.web_search?.price,
    retention: retentionOf(settings, provider.name),
  });
}

/** Returns how long a provider keeps the cache of requests, by the settings. */
export function retentionOf(settings: Settings, provider: string): RequestParameters["cacheRetention"] {
  return resolveParameters(settings, provider).cacheRetention;
}

/** A failure to record usage is reported, but does not discard a reply that was paid for. */
async function keep(
  record: UsageRecord,
  { usage, emit }: Pick<TimedOptions, "usage" | "emit">,
): Promise<void> {
  try {
    await usage?.record(record);
  } catch (thrown) {
    const message = `Cannot save the usage of this request: ${thrownText(thrown)}. ` +
      "Free disk space, or set XDG_STATE_HOME to a writable folder.";
    emit({ event: "notice", code: "state-unwritable", message });
  }
}
