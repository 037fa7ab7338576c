// Asks the provider, with retries and fallbacks, until a reply is in the document.

import { success, thrownText } from "../../base/problem.ts";
import type { Diagnostic } from "../../parser/types.ts";
import { RequestLimiter } from "../../providers/http/limiter.ts";
import { openNetwork } from "../../providers/http/network.ts";
import { MOST_TRIES, Patience, systemClock } from "../../providers/http/patience.ts";
import { resolveBaseUrl } from "../../providers/http/endpoint.ts";
import { KeyMemory } from "../../providers/keys/memory.ts";
import { dayOf, findModel, pricesAt } from "../../providers/models/find.ts";
import { estimateRequestTokens } from "../../providers/request/count.ts";
import type { ProviderError, RequestFallback } from "../../providers/types.ts";
import type { RequestEnd, Send, SendOutcome } from "../types.ts";
import {
  type Refusal,
  type RefusingServer,
  rememberedRefusals,
  rememberRefusals,
} from "../memory/refusals.ts";
import { MOST_RESUMES } from "./ending.ts";
import { RunLimits } from "./limits.ts";
import type { SendOptions, TimedOptions } from "./options.ts";
import { prepareRequest, type ReadyRequest } from "./request.ts";
import { describeRemembered } from "./thinking/notices.ts";
import { type MayAgain, Sending, type SendingParts } from "./sending.ts";

/** Maximum number of fallbacks for one request. */
const MOST_FALLBACKS = 4;

/**
 * Creates the function that sends the current document and writes the reply.
 * If a send fails before any content arrives, the document stays byte-identical. Warnings of a completed send are in its
 * outcome; those of any other are reported as notices.
 */
export function createSend(options: SendOptions): Send {
  const sends = new Sends(options);
  return (signal, { byPerson } = { byPerson: true }) => sends.send(signal, byPerson);
}

/** The sends of one run. They share a record of what the provider rejected and which warnings were reported. */
class Sends {
  readonly #options: TimedOptions;
  readonly #limiter: RequestLimiter;
  readonly #keys: KeyMemory;
  /** Diagnostics about the document and the settings, each reported once per run. */
  readonly #reported = new Set<string>();
  /** Parts of requests that the provider rejected for this model or at this address, and will reject again. */
  readonly #refused = new Set<RequestFallback>();
  /** Keys of earlier thinking that the provider rejected. */
  readonly #omitted = new Set<string>();
  /** Refusals of earlier runs; null until they are read. */
  #remembered: Promise<readonly Refusal[]> | null = null;

  constructor(options: SendOptions) {
    const { clock = systemClock, limits = new RunLimits(options.settings) } = options;
    this.#options = { ...options, clock, limits };
    this.#limiter = options.limiter ?? new RequestLimiter();
    this.#keys = new KeyMemory(() => clock.now(), options.resolvers, options.helpers);
  }

  async send(signal: AbortSignal, byPerson: boolean): Promise<SendOutcome> {
    const remembered = await (this.#remembered ??= this.#recall());
    const fallbacks = new Set([...remembered.map(({ rule }) => rule), ...this.#refused]);
    const refused: RequestFallback[] = [];
    let resumes = 0;
    let isRenewed = false;
    // Warnings to report after a request was answered.
    const reported = remembered.map((refusal) => describeRemembered(refusal, this.#options.provider.display))
      .filter((words) => this.#isNew(words));
    for (;;) {
      const may = {
        fallBack: refused.length < MOST_FALLBACKS,
        resume: resumes < MOST_RESUMES,
        renew: !isRenewed,
      };
      const outcome = await this.#attempt(signal, {
        fallbacks,
        resumes: resumes > 0,
        may,
        reported,
        byPerson,
      });
      if (outcome === "renewed") isRenewed = true;
      else if (outcome.kind === "paused") {
        resumes++;
        reported.push(...outcome.warnings);
      } else if (outcome.kind === "refused") {
        refused.push(outcome.fallback);
        fallbacks.add(outcome.fallback);
        for (const key of outcome.omitted) this.#omitted.add(key);
        // A rejection of earlier thinking is remembered only for its blocks, because thinking that is received from now
        // on was not rejected.
        if (!ABOUT_THINKING.has(outcome.fallback)) this.#refused.add(outcome.fallback);
        reported.push(...outcome.warnings);
      } else {
        if (outcome.kind === "completed") await this.#remember(refused);
        return outcome;
      }
    }
  }

  /** Returns the server and model of the requests; null if their address is invalid, which a request reports. */
  #server(): RefusingServer | null {
    const { provider, settings, environment } = this.#options;
    const baseUrl = resolveBaseUrl(provider, settings, environment);
    const model = settings.model ?? provider.defaultModel;
    return baseUrl.ok && model !== null ? { baseUrl: baseUrl.value, model } : null;
  }

  async #recall(): Promise<readonly Refusal[]> {
    const { environment, clock } = this.#options;
    const server = this.#server();
    return server === null ? [] : await rememberedRefusals(environment, server, dayOf(clock.date()));
  }

  /** Only the number of later requests depends on this, so a failure is reported and stops nothing. */
  async #remember(rules: readonly RequestFallback[]): Promise<void> {
    const { environment, clock, emit } = this.#options;
    const server = this.#server();
    if (server === null || rules.length === 0) return;
    try {
      await rememberRefusals(environment, server, rules, dayOf(clock.date()));
    } catch (thrown) {
      const message = `Cannot remember what the server refused: ${thrownText(thrown)}.`;
      emit({ event: "notice", code: "state-unwritable", message });
    }
  }

  async #attempt(
    signal: AbortSignal,
    { fallbacks, resumes, may, reported, byPerson }: Attempt,
  ): Promise<RequestEnd | "renewed"> {
    if (signal.aborted) return { kind: "cancelled" };
    const { store, settings, environment, provider, templatedTools, frontmatter, journal, limits } =
      this.#options;
    const tools = this.#options.tools();
    const prepared = await prepareRequest({
      chat: store.chat,
      document: store.path,
      settings,
      environment,
      provider,
      tools,
      templatedTools: templatedTools?.(),
      frontmatter,
      keys: this.#keys,
      journal,
      resumes,
      fallbacks,
      omitted: this.#omitted,
    });
    if (prepared.kind === "failed") return prepared;
    this.#tellFindings(prepared.diagnostics);
    if (prepared.kind === "blocked") return prepared;
    const problem = limits.refusal({ ...upcoming(prepared, this.#options), byPerson });
    if (problem !== null) return { kind: "failed", problem };
    const warnings = [...reported.splice(0), ...prepared.warnings.filter((words) => this.#isNew(words))];
    const outcome = await this.#overNetwork(signal, { prepared: { ...prepared, warnings }, tools, may });
    if (outcome === "renewed") reported.push(...warnings);
    return outcome;
  }

  /** Waits until the limiter admits the request, then sends it over a network connection of its own. */
  async #overNetwork(
    signal: AbortSignal,
    parts: Omit<SendingParts, "network" | "explain">,
  ): Promise<RequestEnd | "renewed"> {
    const { settings, environment, provider, clock } = this.#options;
    const { url } = parts.prepared.request;
    const network = this.#options.fetch === undefined ? await openNetwork(url, environment) : success(null);
    if (!network.ok) return { kind: "failed", problem: network.problem };
    try {
      const enter = () =>
        this.#limiter.enter(`${provider.name} ${new URL(url).origin}`, {
          most: settings.providers[provider.name]?.max_requests ?? null,
          clock,
          signal,
        });
      const explain = (error: ProviderError) => this.#keys.explain(provider.name, error);
      const begin = () => new Sending(this.#options, { ...parts, explain, network: network.value });
      const renew = async () =>
        parts.may.renew && await this.#keys.renew({ provider, environment, settings });
      return await sendPatiently(this.#options, { enter, begin, renew }, signal);
    } finally {
      network.value?.close();
    }
  }

  /** Reports the problems of the document, errors first. */
  #tellFindings(diagnostics: readonly Diagnostic[]): void {
    for (const severity of ["error", "warning"]) {
      for (const diagnostic of diagnostics) {
        const { code, start, message } = diagnostic;
        if (diagnostic.severity !== severity || !this.#isNew(`${code} ${start} ${message}`)) continue;
        this.#options.emit({ event: "diagnostic", diagnostic });
      }
    }
  }

  #isNew(words: string): boolean {
    return !this.#reported.has(words) && this.#reported.add(words).size > 0;
  }
}

/** Fallbacks whose effect is limited to the thinking that a request contains. */
const ABOUT_THINKING: ReadonlySet<RequestFallback> = new Set(["earlier-thinking", "some-thinking"]);

/** Returns the facts about a request that the limits depend on. */
function upcoming(
  { request, model }: ReadyRequest,
  { provider: { name: provider }, settings, clock }: TimedOptions,
) {
  const known = findModel(provider, model, settings);
  const rough = estimateRequestTokens(request);
  const prices = known === null ? null : pricesAt(known, dayOf(clock.date()), rough);
  return { provider, model, rough, window: known?.context ?? null, prices };
}

/**
 * Makes a request, and repeats it while the provider cannot answer and no part of a reply has arrived. Returns `renewed` if
 * the key was refused and there is now another one.
 */
async function sendPatiently(
  { emit, retry = true, clock }: TimedOptions,
  { enter, begin, renew }: {
    readonly enter: () => ReturnType<RequestLimiter["enter"]>;
    readonly begin: () => Sending;
    /** Retrieves a refused key again; true if there is now another one, with which the request is built again. */
    readonly renew: () => Promise<boolean>;
  },
  signal: AbortSignal,
): Promise<RequestEnd | "renewed"> {
  // Waiting for the limiter does not count as waiting for the provider.
  let patience: Patience | null = null;
  for (;;) {
    const place = await enter();
    if (place === null) {
      return patience === null ? { kind: "cancelled" } : await begin().end({ kind: "cancelled" });
    }
    patience ??= new Patience(clock);
    const sending = begin();
    try {
      const exchange = await sending.exchange(signal);
      const refused = sending.refused(exchange);
      if (refused !== null) return refused;
      const error = sending.receivedNothing(exchange);
      // A temporary key may have expired early.
      if (error?.class === "authentication" && await renew()) {
        await sending.abandon();
        return "renewed";
      }
      const { wait, tried } = retry && error !== null ? patience.next(error) : { wait: null, tried: null };
      place.leave(error === null ? "answered" : isTooMany(error) ? "refused" : "neither", wait ?? 0);
      if (error === null || wait === null) return await sending.end(exchange, tried);
      await sending.abandon();
      emit({ event: "request:retrying", attempt: patience.tries, of: MOST_TRIES, wait, error });
      if (!await clock.wait(wait, signal)) return await sending.end({ kind: "cancelled" });
    } finally {
      place.leave("neither");
    }
  }
}

/** True if the provider has too many requests at the moment. A permanently exhausted quota is not such a case. */
function isTooMany({ code, retry }: ProviderError): boolean {
  return code === "provider-rate-limit" && retry !== undefined;
}

/** The parameters of one attempt of a request. */
interface Attempt {
  readonly fallbacks: ReadonlySet<RequestFallback>;
  /** True if the model's last turn is a reply that the provider paused. */
  readonly resumes: boolean;
  readonly may: MayAgain;
  /** Warnings of earlier attempts. This attempt adds its own. */
  readonly reported: string[];
  /** True if the user asks for this very request. */
  readonly byPerson: boolean;
}
