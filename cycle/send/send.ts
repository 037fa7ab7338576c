// Asks the provider, with retries and fallbacks, until a reply is in the document.

import { sha256 } from "../../base/hash.ts";
import { type Problem, success, thrownText } from "../../base/problem.ts";
import type { Chat, Diagnostic } from "../../parser/types.ts";
import { RequestLimiter, type RequestPlace } from "../../providers/http/limiter.ts";
import { openNetwork } from "../../providers/http/network.ts";
import { Patience, systemClock, timeIn } from "../../providers/http/patience.ts";
import { resolveBaseUrl } from "../../providers/http/endpoint.ts";
import { bodyBytes } from "../../providers/http/body.ts";
import { KeyMemory } from "../../providers/keys/memory.ts";
import { dayOf } from "../../providers/models/find.ts";
import { withProviderName } from "../../providers/http/errors.ts";
import type { ProviderError, RequestFallback } from "../../providers/types.ts";
import { lastWordIsModels, nothingToSend, summarizeOpenCalls } from "../plan/open_calls.ts";
import type { RequestEnd, Send, SendOutcome } from "../types.ts";
import {
  type Refusal,
  type RefusingServer,
  rememberedRefusals,
  rememberRefusals,
} from "../memory/refusals.ts";
import { expectedCost } from "../usage/fill.ts";
import { MOST_RESUMES } from "./ending.ts";
import { describeUpcoming, RunLimits, type Upcoming } from "./limits.ts";
import type { BatchAnswer, BatchedRequest, SendOptions, TimedOptions } from "./options.ts";
import { prepareRequest, type ReadyRequest } from "./request.ts";
import { ThinkingLog } from "./thinking/log.ts";
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
  /** True once the reply of a batch was read. */
  #isAnswered = false;
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
    /** Keys of the blocks of provider tools that were refused. */
    const blocks: string[] = [];
    let resumes = 0;
    let isRenewed = false;
    let turn = newTurn();
    // Warnings to report after a request was answered.
    const reported = remembered.map((refusal) => describeRemembered(refusal, this.#options.provider.display))
      .filter((words) => this.#isNew(words));
    for (;;) {
      const may = {
        fallBack: refused.length < MOST_FALLBACKS,
        // Between two batches, a reply must be complete.
        resume: resumes < MOST_RESUMES && this.#options.batch === undefined,
        renew: !isRenewed,
      };
      const outcome = await this.#attempt(signal, {
        fallbacks,
        resumes: resumes > 0,
        may,
        reported,
        byPerson,
        turn,
      });
      if (outcome === "stale") continue;
      if (outcome === "renewed") {
        isRenewed = true;
        turn = newTurn();
      } else if (outcome.kind === "paused") {
        turn = newTurn();
        resumes++;
        reported.push(...outcome.warnings);
      } else if (outcome.kind === "refused") {
        turn = newTurn();
        refused.push(outcome.fallback);
        fallbacks.add(outcome.fallback);
        for (const key of outcome.omitted) this.#omitted.add(key);
        if (outcome.fallback === "server-blocks") blocks.push(...outcome.omitted);
        // A rejection of earlier thinking is remembered only for its blocks, because thinking that is received from now
        // on was not rejected.
        if (!ABOUT_DOCUMENT.has(outcome.fallback)) this.#refused.add(outcome.fallback);
        reported.push(...outcome.warnings);
      } else {
        if (outcome.kind === "completed") {
          await this.#remember(refused);
          await this.#rememberBlocks(blocks);
        }
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

  /** Without this, the provider would refuse the same blocks in the next run again. */
  async #rememberBlocks(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    try {
      await this.#options.journal?.recordThinking([{ kind: "stale", keys }]);
    } catch (thrown) {
      const message = `Cannot remember what the provider refused: ${thrownText(thrown)}.`;
      this.#options.emit({ event: "notice", code: "state-unwritable", message });
    }
  }

  async #attempt(
    signal: AbortSignal,
    { fallbacks, resumes, may, reported, byPerson, turn }: Attempt,
  ): Promise<RequestEnd | Again> {
    if (signal.aborted) return { kind: "cancelled" };
    const { store, settings, environment, provider, templatedTools, frontmatter, journal, limits } =
      this.#options;
    const tools = this.#options.tools();
    const { chat } = store;
    const prepared = await prepareRequest({
      chat,
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
      isTrusted: this.#options.isTrusted,
    });
    if (prepared.kind === "failed") return { ...prepared, unanswered: true };
    this.#tellFindings(prepared.diagnostics);
    if (prepared.kind === "blocked") return prepared;
    const answer = this.#answer;
    const upcoming = describeUpcoming(prepared, this.#options, this.#options.clock.date());
    // A reply that a batch brought is paid for already.
    const problem = answer === null ? limits.refusal({ ...upcoming, byPerson }) : null;
    if (problem !== null) return { kind: "failed", problem, unanswered: true };
    const batch = this.#options.batch;
    if (batch !== undefined && answer === null) return this.#intoBatch(batch, prepared, upcoming);
    if (answer !== null && prepared.log instanceof ThinkingLog) {
      if (await sha256(bodyBytes(prepared.request)) !== answer.body) prepared.log.forget();
    }
    if (this.#options.isAside === true && prepared.log instanceof ThinkingLog) prepared.log.setAside();
    const warnings = [...reported.splice(0), ...prepared.warnings.filter((words) => this.#isNew(words))];
    const outcome = await this.#overNetwork(
      signal,
      { prepared: { ...prepared, warnings }, tools, may, chat },
      turn,
    );
    if (typeof outcome === "string") reported.push(...warnings);
    return outcome;
  }

  /** The reply of a batch for the next request; null if there is none, or none any more. */
  get #answer(): BatchAnswer | null {
    return this.#isAnswered ? null : this.#options.batch?.answer ?? null;
  }

  #intoBatch(
    batch: BatchedRequest,
    { request, model }: ReadyRequest,
    { rough: tokens, prices, serverToolCost }: Omit<Upcoming, "byPerson">,
  ): RequestEnd {
    const { provider, settings } = this.#options;
    const problem = batch.take({
      request,
      provider: provider.name,
      kind: provider.kind ?? provider.name,
      model,
      tokens,
      // Searches have no lower price in a batch.
      cost: prices === null || serverToolCost === null
        ? null
        : expectedCost(tokens, prices, null) / 2 + serverToolCost,
      most: settings.run.max_cost,
    });
    return problem === null ? { kind: "batched" } : { kind: "failed", problem };
  }

  /** Waits until the limiter admits the request, then sends it over a network connection of its own. */
  async #overNetwork(
    signal: AbortSignal,
    { chat, ...parts }: Omit<SendingParts, "network" | "explain"> & { readonly chat: Chat },
    turn: Turn,
  ): Promise<RequestEnd | Again> {
    const { settings, environment, provider, clock, emit } = this.#options;
    const { url } = parts.prepared.request;
    const answer = this.#answer;
    this.#isAnswered = true;
    const isDirect = this.#options.fetch === undefined && answer === null;
    const network = isDirect ? await openNetwork(url, environment) : success(null);
    if (!network.ok) return { kind: "failed", problem: network.problem, unanswered: true };
    try {
      const enter = () =>
        this.#limiter.enter(`${provider.name} ${new URL(url).origin}`, {
          most: settings.providers[provider.name]?.max_requests ?? null,
          clock,
          signal,
          ticket: turn.ticket,
          onWait: ({ seconds, ahead }) => {
            release(this.#options, turn);
            if (turn.ticket !== undefined) return;
            const until = timeIn(seconds, clock);
            emit({ event: "request:waiting", provider: provider.name, wait: seconds, until, ahead });
          },
        });
      const explain = (error: ProviderError) =>
        this.#keys.explain(provider.name, withProviderName(error, provider.name));
      const options = answer === null ? this.#options : { ...this.#options, ...answeredBy(answer) };
      const begin = () => new Sending(options, { ...parts, explain, network: network.value });
      const renew = async () =>
        parts.may.renew && await this.#keys.renew({ provider, environment, settings });
      return await sendPatiently(options, { enter, begin, renew, chat }, turn, signal);
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

/** Options with which a reply of a batch is read. It is one response, and reading it again would not change it. */
function answeredBy(answer: BatchAnswer): Pick<TimedOptions, "fetch" | "stream" | "retry" | "answer"> {
  return { fetch: () => Promise.resolve(answer.response()), stream: false, retry: false, answer };
}

/** Fallbacks whose effect is limited to the thinking and the blocks of provider tools that a request contains. */
const ABOUT_DOCUMENT: ReadonlySet<RequestFallback> = new Set([
  "earlier-thinking",
  "some-thinking",
  "server-blocks",
]);

/** What one send keeps while it is tried again. */
interface Turn {
  /** Set once the limiter admitted the request: waiting for the limiter does not count as waiting for the provider. */
  patience: Patience | null;
  /** Number in the limiter's line; undefined before the provider refused the request. */
  ticket: number | undefined;
  /** True if other runs may have used the document since it was read. */
  isReleased: boolean;
}

function newTurn(): Turn {
  return { patience: null, ticket: undefined, isReleased: false };
}

/** Lets other runs use the document during a wait that the person allowed. */
function release({ pause, settings }: TimedOptions, turn: Turn): void {
  if (pause === undefined || settings.run.wait_for_limit === 0) return;
  turn.isReleased = true;
  void pause.release();
}

/**
 * Reason why the request must be built again: the refused key was replaced by another one, or the document changed while
 * the request waited.
 */
type Again = "renewed" | "stale";

/** Makes a request, and repeats it while the provider cannot answer and no part of a reply has arrived. */
async function sendPatiently(
  options: TimedOptions,
  { enter, begin, renew, chat }: {
    readonly enter: () => ReturnType<RequestLimiter["enter"]>;
    readonly begin: () => Sending;
    /** Retrieves a refused key again; true if there is now another one, with which the request is built again. */
    readonly renew: () => Promise<boolean>;
    /** The document from which the request was built. */
    readonly chat: Chat;
  },
  turn: Turn,
  signal: AbortSignal,
): Promise<RequestEnd | Again> {
  const { emit, retry = true, clock } = options;
  for (;;) {
    const place = await enter();
    if (place === null) {
      await takeBackNow(options, turn);
      return turn.patience === null ? { kind: "cancelled" } : await begin().end({ kind: "cancelled" });
    }
    try {
      if (turn.patience !== null || turn.isReleased) {
        const changed = await changedMeanwhile(options, { chat, turn, place, signal });
        if (changed === "again") continue;
        if (changed !== null) return changed;
      }
      const patience = turn.patience ??= new Patience(clock, { budget: options.limits.waits });
      const sending = begin();
      const exchange = await sending.exchange(signal);
      const refused = sending.refused(exchange);
      if (refused !== null) return refused;
      const error = sending.receivedNothing(exchange);
      // A temporary key may have expired early.
      if (error?.class === "authentication" && await renew()) {
        await sending.abandon();
        return "renewed";
      }
      const { wait, of, tried } = retry && error !== null
        ? patience.next(error, givesUpOn(error, options))
        : { wait: null, of: null, tried: null };
      place.leave(error === null ? "answered" : isTooMany(error) ? "refused" : "neither", wait ?? 0);
      if (error === null || wait === null) {
        const end = await sending.end(exchange, tried);
        return error !== null && end.kind === "failed" ? { ...end, unanswered: true } : end;
      }
      await sending.abandon();
      emit({
        event: "request:retrying",
        attempt: patience.tries,
        of,
        wait,
        until: timeIn(wait, clock),
        error,
      });
      // A refused request waits in the limiter's line, where it keeps its number.
      if (isTooMany(error)) turn.ticket = place.ticket;
      else {
        if (of === null) release(options, turn);
        if (!await clock.wait(wait, signal)) {
          await takeBackNow(options, turn);
          return await sending.end({ kind: "cancelled" });
        }
      }
    } finally {
      place.leave("neither");
    }
  }
}

/**
 * Takes the document back after a wait, with its changes. Returns null if the request can be sent as it is, and `again`
 * if it must enter the line again, because another run used the document. Otherwise the request must be built again, or
 * cannot be sent.
 */
async function changedMeanwhile(
  { store, pause, blockers, emit }: TimedOptions,
  { chat, turn, place, signal }: {
    readonly chat: Chat;
    readonly turn: Turn;
    readonly place: RequestPlace;
    readonly signal: AbortSignal;
  },
): Promise<RequestEnd | "stale" | "again" | null> {
  let isAgain = false;
  const onBusy = ({ message }: Problem) => {
    isAgain = true;
    turn.ticket = place.ticket;
    // Other documents of this process can be sent meanwhile.
    place.leave("neither");
    emit({
      event: "notice",
      code: "document-in-use",
      message: `${message} flemma waits until that run ends.`,
    });
  };
  const problem = turn.isReleased
    ? await pause!.reclaim({ wait: Infinity, signal, onBusy })
    : await store.refresh?.() ?? null;
  if (problem?.code === "cancelled") return { kind: "cancelled" };
  if (problem !== null) return { kind: "failed", problem };
  turn.isReleased = false;
  if (store.chat === chat) return isAgain ? "again" : null;
  const found = blockers?.() ?? [];
  if (found.length > 0) return { kind: "blocked", diagnostics: found };
  return asksForReply(store.chat) ? "stale" : { kind: "changed" };
}

/** True if the document still ends in something to send, and no call waits. */
function asksForReply(chat: Chat): boolean {
  if (lastWordIsModels(chat) || nothingToSend(chat)) return false;
  return Object.values(summarizeOpenCalls(chat)).every((ids) => ids.length === 0);
}

/** Takes the document back after a canceled wait. If another run uses it, the next step waits for that run or fails. */
async function takeBackNow({ pause }: TimedOptions, turn: Turn): Promise<void> {
  if (turn.isReleased) await pause?.reclaim({ wait: 0 });
}

/** Returns a lower number of attempts if another model is to be asked after this error. */
function givesUpOn({ retry }: ProviderError, { giveUp }: TimedOptions): number | undefined {
  const isListed = retry?.trouble !== undefined && giveUp?.on.includes(retry.trouble) === true;
  return isListed ? giveUp.attempts : undefined;
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
  readonly turn: Turn;
}
