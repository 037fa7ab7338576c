// Decides how a request ended, from what was received.

import { own } from "../../base/is_object.ts";
import { parseExactly } from "../../base/text/exact_json.ts";
import { providerError } from "../../providers/http/errors.ts";
import type { Exchange } from "../../providers/http/post.ts";
import type { Effect, Provider, ProviderError, Usage } from "../../providers/types.ts";
import type { RequestEnd } from "../types.ts";

/** If a provider pauses a reply, the reply is sent back to the provider, at most this many times. */
export const MOST_RESUMES = 20;

/** The event with which a provider closes a reply. */
export type StopEffect = Extract<Effect, { kind: "stop" }>;

/** What was received for one request. */
export interface Received {
  readonly exchange: Exchange;
  /** The event that closed the reply; null while the provider has not closed it. */
  readonly stop: StopEffect | null;
  /** The error in the stream, or the reason why the reply could not be written. */
  readonly error: ProviderError | null;
  /** True if any part of the reply is written. */
  readonly begun: boolean;
}

/** Further facts that decide how a request ended. */
export interface EndingFacts {
  readonly provider: Provider;
  /** Adds the names of tools that an error names by their place. */
  named(error: ProviderError): ProviderError;
  readonly usage: Usage | null;
  readonly warnings: readonly string[];
  /** True if part of the reply could not be read or written. */
  readonly isDoubtful: boolean;
  /** A sentence about retries, added to an error. */
  readonly tried: string | null;
  /** Returns the time in so many seconds, in UTC. */
  timeIn(seconds: number): string;
  /** Seconds that the run could wait for limits. */
  readonly waitLimit: number;
  /** True if a reply that the provider paused may be sent back to it. */
  readonly mayResume: boolean;
  /** True for the reply of a batch, where no request follows at once. */
  readonly isBatched: boolean;
  /** The reply's token limit if flemma chose it, because the model's own is unknown; else null. */
  readonly chosenLimit: number | null;
}

/** How a sent request ended. A failure comes from the provider or the connection. */
export type SentEnd =
  | Extract<RequestEnd, { kind: "completed" | "paused" | "cancelled" }>
  | { readonly kind: "failed"; readonly problem: ProviderError };

export function endingOf(
  { exchange, stop, error, begun }: Received,
  facts: EndingFacts,
): SentEnd {
  const { provider, usage, warnings, isDoubtful, tried, mayResume, named } = facts;
  if (exchange.kind === "cancelled") return { kind: "cancelled" };
  if (error !== null || stop === null) {
    const whole = named(error ?? failureOf(exchange, provider, begun));
    const found = begun ? whole : withTime(whole, facts);
    const problem = tried === null ? found : { ...found, details: [...found.details, tried] };
    return { kind: "failed", problem };
  }
  if (stop.outcome === "blocked") {
    return { kind: "failed", problem: blockedError(stop, provider.display, begun) };
  }
  if (stop.outcome === "paused" && begun && mayResume) return { kind: "paused", warnings };
  const isCut = stop.outcome === "truncated" || stop.outcome === "paused";
  return {
    kind: "completed",
    reply: !begun
      ? "empty"
      : stop.reason === WINDOW_EXCEEDED
      ? "full"
      : isCut
      ? "cut"
      : isDoubtful
      ? "doubtful"
      : "whole",
    usage,
    warnings: [...warnings, ...replyWarnings(stop, begun, facts)],
  };
}

/** Adds to an error when the provider accepts requests again, and how to wait until then. */
function withTime(error: ProviderError, { timeIn, waitLimit }: EndingFacts): ProviderError {
  const { retry } = error;
  if (retry?.trouble === undefined) return error;
  const at = retry.after === null ? {} : { retry_at: timeIn(retry.after) };
  // An hour at least, and more than the limit that was not enough.
  const hours = Math.max(1, Math.ceil(((retry.after ?? 0) + waitLimit + 60) / 3600));
  const when = at.retry_at === undefined
    ? "later, or let flemma wait longer"
    : `after ${at.retry_at}, or let flemma wait`;
  return { ...error, ...at, next: `Try again ${when}: --wait-limit ${hours}h` };
}

/** Returns the error of an exchange without a closing event. */
export function failureOf(
  exchange: Exclude<Exchange, { kind: "cancelled" }>,
  provider: Provider,
  begun: boolean,
): ProviderError {
  if (exchange.kind === "failed") return exchange.error;
  if (exchange.kind === "body") {
    const { text, headers, status } = exchange;
    if (text.trim() === "" && status < 400) return endedEarly();
    return provider.readError(decodeBody(text), headers, status >= 400 ? status : undefined);
  }
  // Lines that are not SSE may be an error body with the wrong content type. Such lines are used only if there is no
  // reply.
  const stray = begun ? "" : exchange.lines.join("\n");
  return stray.trim() === "" ? endedEarly() : provider.readError(decodeBody(stray), exchange.headers);
}

/** Returns the text of a response that is not a stream; empty for a stream. */
export function bodyText(exchange: Exchange): string {
  if (exchange.kind === "body") return exchange.text;
  return exchange.kind === "stream" ? exchange.lines.join("\n") : "";
}

function replyWarnings(
  stop: StopEffect,
  begun: boolean,
  { chosenLimit, isBatched }: Pick<EndingFacts, "chosenLimit" | "isBatched">,
): readonly string[] {
  const warnings: string[] = [];
  if (stop.outcome === "truncated") {
    const cut = stop.reason === "max_tokens" && chosenLimit !== null
      ? `: it reached ${chosenLimit} tokens, which flemma chose because the model's own limit is unknown. Raise ` +
        "parameters.max_tokens."
      : own(CUTS, stop.reason ?? "") ?? ` (${stop.reason}).`;
    warnings.push(`The reply was cut off${cut}`);
  }
  if (stop.outcome === "paused" && begun) {
    const pause = isBatched
      ? "it, and only a live run can continue it."
      : `it more than ${MOST_RESUMES} times.`;
    warnings.push(`The reply was cut off: the provider paused ${pause}`);
  }
  if (!begun) warnings.push("The request succeeded, but the reply is empty.");
  return warnings;
}

/** Reason of a reply that ended because the context window was full. */
const WINDOW_EXCEEDED = "model_context_window_exceeded";

/** Sentences that say why a reply ended before it was complete. The end of the run says what to do. */
const CUTS: Readonly<Record<string, string>> = {
  continuation: ": the provider ended it at a limit of its own.",
  too_many_tool_calls: ": the provider's own tools were called too often.",
  max_tokens: ": the model reached its output limit (max_tokens).",
  [WINDOW_EXCEEDED]: ": the conversation fills the model's context window.",
};

/**
 * Returns the error of a reply that the provider or the model itself broke off. The same request would be refused
 * again.
 */
function blockedError(
  stop: StopEffect,
  provider: string,
  begun: boolean,
): ProviderError {
  const details = stop.details === undefined ? "" : `: ${stop.details}`;
  const message = `Response blocked by ${provider} (${stop.reason ?? "no reason given"}${details})`;
  const first = begun ? "Delete the partial reply, then reword" : "Reword";
  const next = `${first} your message, or use another model (--model NAME): the same request will be ` +
    "refused again.";
  return providerError("blocked", message, { next });
}

function endedEarly(): ProviderError {
  return providerError("network", "The connection ended before the reply was complete.", {
    retry: { after: null },
  });
}

/** Returns decoded JSON, or the text itself if it is not JSON. */
export function decodeBody(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return text;
  }
}
