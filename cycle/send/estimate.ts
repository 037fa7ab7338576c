// Estimates how many tokens a document would send and what they cost, using the provider's own count if available.

import { type Outcome, type Problem, success } from "../../base/problem.ts";
import { dayOf, findModel, pricesAt } from "../../providers/models/find.ts";
import type { Prices } from "../../providers/models/types.ts";
import { isReachable, openNetwork } from "../../providers/http/network.ts";
import { post } from "../../providers/http/post.ts";
import { countedTokens, countRequest, estimateRequestTokens } from "../../providers/request/count.ts";
import { resolveParameters } from "../../providers/request/parameters.ts";
import type { Diagnostic } from "../../parser/types.ts";
import { type Prepared, prepareRequest, type RequestOptions } from "./request.ts";

/** Size and cost of a request. */
export interface Estimate {
  /** Name of the provider. */
  readonly provider: string;
  /** Name of the model. */
  readonly model: string;
  /** Number of tokens of the request. */
  readonly tokens: number;
  /** True if `tokens` is only an estimate, a quarter of the bytes. */
  readonly rough: boolean;
  /** Number of tokens that the model's context window holds; null if unknown. */
  readonly context: number | null;
  /** The model's current prices for a prompt of that length; null if unknown. */
  readonly prices: Prices | null;
  /** Dollars for sending the request with nothing cached; null without prices. */
  readonly cost: number | null;
}

/** Estimates without sending. Fails like a send, or with `not-counted` if the answer contains no number. */
export async function estimate(
  options: RequestOptions & { readonly fetch?: typeof fetch; readonly signal?: AbortSignal },
): Promise<Outcome<Estimate>> {
  const prepared = await prepareRequest({ ...options, isSent: false });
  if (prepared.kind !== "ready") return { ok: false, problem: obstacleIn(prepared) };
  const { provider } = options;
  const counting = countRequest(provider.name, prepared.request);
  if (counting === null) {
    return success(estimateOf(options, prepared.model, estimateRequestTokens(prepared.request), true));
  }
  const answer = await ask(options, counting);
  if (!answer.ok) return answer;
  const tokens = countedTokens(provider.name, answer.value);
  if (tokens !== null) return success(estimateOf(options, prepared.model, tokens, false));
  const message = `The answer of ${provider.display} contains no token count.`;
  return { ok: false, problem: { code: "not-counted", message } };
}

function estimateOf(
  { provider, settings, now }: RequestOptions,
  model: string,
  tokens: number,
  rough: boolean,
): Estimate {
  const known = findModel(provider.name, model, settings);
  const prices = known === null ? null : pricesAt(known, dayOf(now ?? new Date()), tokens);
  const cost = prices === null ? null : tokens * prices.input / 1e6;
  return { provider: provider.name, model, tokens, rough, context: known?.context ?? null, prices, cost };
}

async function ask(
  { provider, settings, environment, fetch, signal = new AbortController().signal }: Parameters<
    typeof estimate
  >[0],
  request: Extract<Prepared, { kind: "ready" }>["request"],
): Promise<Outcome<unknown>> {
  const network = fetch === undefined ? await openNetwork(request.url, environment) : success(null);
  if (!network.ok) return network;
  const { timeout, pingTimeout, connectTimeout } = resolveParameters(settings, provider.name);
  try {
    const exchange = await post({
      request,
      timeout,
      pingTimeout,
      connectTimeout,
      signal,
      fetch: network.value?.fetch ?? fetch,
      proxy: network.value?.proxy ?? null,
      reach: network.value === null ? undefined : isReachable,
      onEvent: () => "stop",
      onUnreadable: () => {},
    });
    if (exchange.kind === "cancelled") return { ok: false, problem: STOPPED };
    if (exchange.kind === "failed") return { ok: false, problem: exchange.error };
    const text = exchange.kind === "body" ? exchange.text : exchange.lines.join("\n");
    const body = decoded(text);
    if (exchange.kind === "body" && exchange.status >= 400) {
      return { ok: false, problem: provider.readError(body, exchange.headers, exchange.status) };
    }
    return success(body);
  } finally {
    network.value?.close();
  }
}

const STOPPED: Problem = { code: "cancelled", message: "Token counting was canceled." };

function decoded(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns why nothing can be sent, worded as a send would report it. */
function obstacleIn(prepared: Exclude<Prepared, { kind: "ready" }>): Problem {
  if (prepared.kind === "failed") return prepared.problem;
  const [first] = prepared.diagnostics.filter(({ severity }: Diagnostic) => severity === "error");
  return { code: first?.code ?? "blocked", message: first?.message ?? "Cannot build the request." };
}
