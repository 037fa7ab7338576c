// Asks other models for one reply if the provider cannot answer (`fallback.models`).

import { type Outcome, type Problem, problemLine } from "../../../base/problem.ts";
import type { Settings } from "../../../config/settings.generated.ts";
import { createSend } from "../../../cycle/send/send.ts";
import type { SendOptions } from "../../../cycle/send/options.ts";
import type { Send, SendOutcome } from "../../../cycle/types.ts";
import type { RequestLimiter } from "../../../providers/http/limiter.ts";
import { systemClock } from "../../../providers/http/patience.ts";
import { choiceOf } from "../../../providers/models/choice.ts";
import { withLearned } from "../../../providers/models/learned.ts";
import { getProvider } from "../../../providers/registry.ts";
import type { ProviderError } from "../../../providers/types.ts";
import { fallbackSettings } from "./models.ts";

/** Maximum number of other models for one reply. */
const MOST_MODELS = 3;

/** Attempts with each model before the next one is asked. */
const ATTEMPTS = 3;

/** Seconds for which a model that could not answer is not asked again. */
const SKIPPED_FOR = 300;

type Failed = Extract<SendOutcome, { kind: "failed" }>;

/** Options of all models; the limiter is shared, and remembers which models cannot answer. */
export type FallbackOptions = SendOptions & { readonly limiter: RequestLimiter };

/**
 * Creates a function that asks the model of the settings, and others in turn if its provider cannot answer and nothing
 * of a reply arrived. If all fail, the error of the first is returned, with the errors of the others as details.
 */
export function createFallbackSend(options: FallbackOptions): Send {
  const chain = new FallbackChain(options);
  return (signal, how = { byPerson: true }) => chain.send(signal, how);
}

class FallbackChain {
  readonly #options: FallbackOptions;
  readonly #giveUp: NonNullable<SendOptions["giveUp"]>;
  readonly #name: string;
  readonly #first: Send;
  /** The models to ask otherwise, by their entry; each is created when it is first needed. */
  readonly #others = new Map<string, Promise<Outcome<{ readonly name: string; readonly send: Send }>>>();

  constructor(options: FallbackOptions) {
    this.#options = options;
    const { provider, settings } = options;
    this.#giveUp = { attempts: ATTEMPTS, on: settings.fallback.on };
    this.#name = nameOf(provider.name, settings, provider.defaultModel);
    this.#first = createSend({ ...options, giveUp: this.#giveUp });
  }

  async send(signal: AbortSignal, how: { readonly byPerson: boolean }): Promise<SendOutcome> {
    const { limiter, settings, emit, clock = systemClock } = this.#options;
    const known = limiter.troubles.get(this.#name);
    const skipped = known !== undefined && clock.now() < known.until ? known.error : null;
    const first: SendOutcome = skipped === null
      ? await this.#first(signal, how)
      : { kind: "failed", problem: skipped, unanswered: true };
    const error = this.#troubleOf(first);
    if (error === null) {
      limiter.troubles.delete(this.#name);
      return first;
    }
    if (skipped === null) {
      limiter.troubles.set(this.#name, { error, until: clock.now() + SKIPPED_FOR * 1000 });
    }
    const failures: string[] = [];
    for (const entry of settings.fallback.models.slice(0, MOST_MODELS)) {
      if (signal.aborted) return { kind: "cancelled" };
      const other = await this.#other(entry);
      if (!other.ok) {
        failures.push(`${entry}: ${other.problem.message}`);
        continue;
      }
      const { name, send } = other.value;
      if (name === this.#name) continue;
      emit({ event: "request:fallback", from: this.#name, to: name, error });
      const outcome = await send(signal, { byPerson: false });
      if (outcome.kind === "completed") {
        const words = `This reply is by ${name}, because ${this.#name} could not answer (fallback.models).`;
        const others = failures.map((failure) => `Not by ${failure}`);
        return { ...outcome, warnings: [...others, ...outcome.warnings, words] };
      }
      if (outcome.kind !== "failed" || outcome.unanswered !== true) return outcome;
      failures.push(`${name}: ${failureLine(outcome.problem)}`);
    }
    return await this.#allFailed({ kind: "failed", problem: error, unanswered: true }, failures, signal, how);
  }

  /** Waits for the first model if the settings allow it; otherwise returns its error, with the others' as details. */
  async #allFailed(
    { problem }: Failed,
    failures: readonly string[],
    signal: AbortSignal,
    how: { readonly byPerson: boolean },
  ): Promise<SendOutcome> {
    const { limits, emit } = this.#options;
    if (limits !== undefined && limits.waits.left > 0) {
      for (const failure of failures) emit({ event: "notice", code: "fallback-failed", message: failure });
      return await createSend(this.#options)(signal, how);
    }
    return { kind: "failed", problem: { ...problem, details: [...problem.details ?? [], ...failures] } };
  }

  /** Returns the error for which another model may be asked; null if the outcome is final. */
  #troubleOf(outcome: SendOutcome): ProviderError | null {
    if (outcome.kind !== "failed" || outcome.unanswered !== true) return null;
    const problem = outcome.problem as Problem & Partial<ProviderError>;
    const trouble = problem.retry?.trouble;
    return trouble !== undefined && this.#giveUp.on.includes(trouble) ? problem as ProviderError : null;
  }

  #other(entry: string): Promise<Outcome<{ readonly name: string; readonly send: Send }>> {
    const known = this.#others.get(entry) ?? this.#make(entry);
    this.#others.set(entry, known);
    return known;
  }

  async #make(entry: string): Promise<Outcome<{ readonly name: string; readonly send: Send }>> {
    const { environment } = this.#options;
    const read = fallbackSettings(this.#options.settings, entry);
    if (!read.ok) return read;
    const provider = await getProvider(read.value.provider, read.value);
    if (!provider.ok) return provider;
    const settings = await withLearned(environment, read.value);
    const name = nameOf(provider.value.name, settings, provider.value.defaultModel);
    const more = { settings, provider: provider.value, giveUp: this.#giveUp, insteadOf: this.#name };
    return { ok: true, value: { name, send: createSend({ ...this.#options, ...more }) } };
  }
}

/** Returns the name of a model as `PROVIDER/MODEL`. */
function nameOf(provider: string, { model }: Pick<Settings, "model">, standard: string | null): string {
  return `${provider}/${model ?? standard ?? choiceOf(provider)?.standard ?? "?"}`;
}

/** Returns an error of one of several models on one line; advice about waiting belongs to the first model only. */
function failureLine(problem: Problem & Partial<Pick<ProviderError, "retry">>): string {
  return problem.retry === undefined ? problemLine(problem) : problem.message;
}
