// The limits of a run, checked before each request: context window, dollars, tokens.

import { MOST_TEXT_BYTES } from "../../base/bytes.ts";
import type { Problem } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { providerError } from "../../providers/http/errors.ts";
import { WaitBudget } from "../../providers/http/patience.ts";
import type { ProviderError, ProviderRequest } from "../../providers/types.ts";
import { dayOf, findModel, pricesAt } from "../../providers/models/find.ts";
import type { Prices } from "../../providers/models/types.ts";
import { estimateRequestTokens } from "../../providers/request/count.ts";
import { RunPurse } from "../usage/purse.ts";
import { expectedCost, expectedTokens, type Measured, usedTokens } from "../usage/fill.ts";
import { mostCost } from "../../providers/models/usage.ts";
import type { UsageRecord } from "../types.ts";

/** The facts about a request that is about to be made. */
export interface Upcoming {
  readonly provider: string;
  readonly model: string;
  /** Tokens estimated from the length of the request's body. */
  readonly rough: number;
  /** Number of tokens that the model's context window holds; null if unknown. */
  readonly window: number | null;
  /** Prices of the model; null if unknown. */
  readonly prices: Prices | null;
  /** The most dollars that tools which the provider runs can cost; null if their price is unknown. */
  readonly serverToolCost: number | null;
  /** True if the user asks for this very request; a full window then does not prevent it. */
  readonly byPerson: boolean;
}

/**
 * Returns the facts about a request that the limits depend on.
 *
 * @param now the time of the request, for the prices of that day
 */
export function describeUpcoming(
  { request, model, serverToolCost }: {
    readonly request: ProviderRequest;
    readonly model: string;
    readonly serverToolCost: number | null;
  },
  { provider: { name: provider }, settings }: {
    readonly provider: { readonly name: string };
    readonly settings: Settings;
  },
  now: Date,
): Omit<Upcoming, "byPerson"> {
  const known = findModel(provider, model, settings);
  const rough = estimateRequestTokens(request);
  const prices = known === null ? null : pricesAt(known, dayOf(now), rough);
  return { provider, model, rough, window: known?.context ?? null, prices, serverToolCost };
}

/** Bytes reserved for the text below a reply. */
const END_BYTES = 1 << 20;

/** Maximum number of bytes of a UTF-16 unit in UTF-8. */
const CHARACTER_BYTES = 3;

/**
 * Returns why no more of a reply is accepted: the document would become too large to open again. Null while more of
 * the reply fits.
 * @param bytes size of the current document
 * @param waiting characters of the reply that are not in it yet
 */
export function replySizeError(bytes: number, waiting: number): ProviderError | null {
  if (bytes + CHARACTER_BYTES * waiting <= MOST_TEXT_BYTES - END_BYTES) return null;
  return providerError(
    "other",
    "The document has reached the maximum of 512 MB, so the reply ends here.",
    {
      next: "Continue in a new document: flemma new NAME.chat",
    },
  );
}

/** The limits of one run, and what it has used so far. */
export class RunLimits {
  readonly #settings: Pick<Settings, "context" | "run">;
  /** What the run has used, together with its helpers. */
  readonly purse: RunPurse;
  /** True if this document is a helper, and its caller began the run. */
  readonly #isShared: boolean;
  #last: Measured | null = null;
  /** True if this run has already warned that the window is filling. */
  #warned = false;
  readonly #compacts: boolean;
  /** How often this run has compacted its document. */
  #compactions = 0;

  /** @param options `compacts: true` if the run can compact its document; `purse` of the caller's run */
  constructor(
    settings: Pick<Settings, "context" | "run">,
    { compacts = false, purse }: { readonly compacts?: boolean; readonly purse?: RunPurse } = {},
  ) {
    this.#settings = settings;
    this.#compacts = compacts;
    this.#isShared = purse !== undefined;
    this.purse = purse ?? new RunPurse(new WaitBudget(settings.run.wait_for_limit));
  }

  /** The seconds that the run may wait for limits of providers. */
  get waits(): WaitBudget {
    return this.purse.waits;
  }

  /** Starts another run with nothing used. */
  begin(): void {
    if (!this.#isShared) this.purse.begin();
    this.#last = null;
    this.#warned = false;
    this.#compactions = 0;
  }

  /** True if a full context window makes the run compact its document and go on. */
  get mayCompact(): boolean {
    const { on_full: onFull, max_compactions: most } = this.#settings.context;
    return this.#compacts && onFull === "compact" && this.#compactions < most;
  }

  /** Returns the tokens of a request, from an estimate by the length of its body. */
  expected(rough: number): number {
    return expectedTokens(rough, this.#last);
  }

  /** Counts a compaction and what its requests used. The next request is estimated again. */
  compacted(records: readonly UsageRecord[]): void {
    this.#compactions++;
    this.#last = null;
    this.#warned = false;
    for (const record of records) this.#spend(record);
  }

  /** Returns why the request may not be made; null if it may be. */
  refusal(request: Upcoming): Problem | null {
    const tokens = this.expected(request.rough);
    const problem = this.#overCost(request, tokens) ?? this.#overTokens(tokens) ??
      this.#overWindow(request, tokens);
    const { prices, serverToolCost } = request;
    const dollars = prices === null ? 0 : expectedCost(tokens, prices, this.#last) + (serverToolCost ?? 0);
    if (problem === null) this.purse.reserve(this, { dollars, tokens: this.#nextTokens(tokens) });
    else this.purse.release(this);
    return problem;
  }

  /** Counts a request; returns a warning for the user, or null. */
  take(measured: Measured): string | null {
    const { record } = measured;
    this.#spend(record);
    this.#last = measured;
    return this.#warning(record);
  }

  /** Releases what was reserved for a request that was never counted. */
  end(): void {
    this.purse.release(this);
  }

  #spend(record: UsageRecord): void {
    this.purse.release(this);
    this.purse.spend({ dollars: record.cost ?? costAtMost(record), tokens: usedTokens(record) });
  }

  #nextTokens(tokens: number): number {
    return tokens + (this.#last?.record.usage.output ?? 0);
  }

  #overCost({ provider, model, prices, serverToolCost }: Upcoming, tokens: number): Problem | null {
    const { max_cost: most } = this.#settings.run;
    if (most === null) return null;
    if (prices === null) {
      return {
        code: "price-unknown",
        message:
          `Not sent: no price is known for ${model} of ${provider}, so flemma cannot enforce run.max_cost.`,
        next:
          `Set its price (providers.${provider}.models.${model}.prices in your settings), or limit the run ` +
          "with run.max_tokens (--max-tokens).",
      };
    }
    if (serverToolCost === null) {
      return {
        code: "price-unknown",
        message:
          `Not sent: no price is known for the tools that ${provider} runs, so flemma cannot enforce run.max_cost.`,
        next: "Switch them off (server_tools), or limit the run with run.max_tokens (--max-tokens).",
      };
    }
    const next = expectedCost(tokens, prices, this.#last) + serverToolCost;
    const spent = this.purse.spent(this).dollars;
    if (spent + next <= most) return null;
    return {
      code: "budget-reached",
      message: `Not sent: the next request would cost about ${dollars(next)}, and ${dollars(spent)} of ` +
        `${dollars(most)} is spent (run.max_cost).`,
      next: raise("max_cost", roundUp(spent + next)),
    };
  }

  #overTokens(tokens: number): Problem | null {
    const { max_tokens: most } = this.#settings.run;
    const next = this.#nextTokens(tokens);
    const spent = this.purse.spent(this).tokens;
    if (most === null || spent + next <= most) return null;
    return {
      code: "budget-reached",
      message:
        `Not sent: the next request would use about ${next} tokens, and ${spent} of ${most} are used ` +
        "(run.max_tokens).",
      next: raise("max_tokens", roundUp(spent + next)),
    };
  }

  #overWindow({ window, model, byPerson }: Upcoming, tokens: number): Problem | null {
    const { stop_at: stop, compact_at: compact } = this.#settings.context;
    const compacts = this.mayCompact;
    const [most, key] = compacts && compact < stop ? [compact, "compact_at"] : [stop, "stop_at"];
    if ((byPerson && !compacts) || window === null || tokens < window * most) return null;
    return {
      code: "context-full",
      message:
        `Not sent: the next request would fill about ${
          percent(tokens / window)
        } of the context window of ${model} ` +
        `(context.${key} is ${percent(most)}).`,
      next: "Continue in a smaller document: flemma compact FILE",
    };
  }

  #warning(record: UsageRecord): string | null {
    const { warn_at: from } = this.#settings.context;
    const { context } = record;
    if (this.#warned || context === null || usedTokens(record) < context * from) return null;
    this.#warned = true;
    return `The conversation fills ${
      percent(usedTokens(record) / context)
    } of the context window of ${record.model}; ` +
      "flemma compact continues it in a smaller document.";
  }
}

/** Returns what a request of unknown cost counts against a limit in dollars. */
function costAtMost({ prices, usage }: UsageRecord): number {
  return prices === null ? 0 : mostCost(usage, prices, { outputIncludesThoughts: false, retention: "long" });
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

/** Returns how to raise a limit: where it is set, which works in editors too, or for one command. */
function raise(key: "max_cost" | "max_tokens", to: string): string {
  return `Raise run.${key} to ${to} where it is set, or for one command: --${key.replace("_", "-")} ${to}`;
}

/** Rounds an amount up to two digits, so that a person can type it. */
function roundUp(amount: number): string {
  const unit = 10 ** (Math.floor(Math.log10(amount)) - 1);
  return String(Number((Math.ceil(amount / unit) * unit).toPrecision(2)));
}

/** Formats dollars with enough digits to distinguish small amounts. */
function dollars(amount: number): string {
  return `$${Number(amount.toPrecision(3))}`;
}
