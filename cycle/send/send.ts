// Asks the provider and brings its reply into the document as it streams (tool-cycle 6, providers 9 to 12).

import { own } from "../../base/is_object.ts";
import type { Environment } from "../../base/environment.ts";
import { success, thrownText } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.ts";
import { openTurn } from "../../parser/edits/turn.ts";
import type { EvaluatedFrontmatter } from "../../prompt/evaluate.ts";
import { KeyMemory } from "../../providers/keys/memory.ts";
import type { CredentialResolver } from "../../providers/keys/types.ts";
import { isBlank, trimBlank } from "../../prompt/blank.ts";
import { quickHash } from "../../base/hash.ts";
import { providerError } from "../../providers/http/errors.ts";
import { RequestLimiter } from "../../providers/http/limiter.ts";
import { type Network, openNetwork, reachable } from "../../providers/http/network.ts";
import { type Clock, MOST_TRIES, Patience, systemClock } from "../../providers/http/patience.ts";
import { type Exchange, post } from "../../providers/http/post.ts";
import { dayOf, findModel, pricesAt } from "../../providers/models/find.ts";
import { otherModel } from "../../providers/models/warnings.ts";
import { roughTokens } from "../../providers/request/count.ts";
import { resolveParameters } from "../../providers/request/parameters.ts";
import type {
  Concession,
  Effect,
  OfferedTool,
  Provider,
  ProviderError,
  StreamReader,
  Usage,
} from "../../providers/types.ts";
import { mergeUsage, promptTokens } from "../../providers/usage.ts";
import { REPLY_STOPPED, type ReplyEnd, ReplyWriter } from "./reply.ts";
import { ReplyCommits } from "./commits.ts";
import { prepareRequest, type Sendable } from "./request.ts";
import { outgrown, RunLimits } from "./limits.ts";
import { silentCut } from "./silent_cut.ts";
import { concessionNotice } from "./thinking_notices.ts";
import type { UsageLog } from "../usage/log.ts";
import { recordOf } from "../usage/record.ts";
import { UnfinishedCalls } from "./unfinished_calls.ts";
import type { ThinkingMemory } from "../thinking_memory.ts";
import type {
  DocumentStore,
  Emit,
  FileMemory,
  ReplyMemory,
  Send,
  SendOutcome,
  UsageRecord,
} from "../types.ts";

export { dryRun, HIDDEN_SECRET, type Prepared, prepareRequest, type RequestOptions } from "./request.ts";

export interface SendOptions {
  readonly store: DocumentStore;
  readonly settings: Settings;
  readonly environment: Environment;
  readonly provider: Provider;
  /** The tools to offer, asked at each send. */
  readonly tools: () => readonly OfferedTool[];
  readonly emit: Emit;
  readonly fetch?: typeof fetch;
  /** False writes the reply once, at its end (`--no-stream`). */
  readonly stream?: boolean;
  /** Milliseconds between commits while streaming. */
  readonly commitInterval?: number;
  readonly templatedTools?: readonly string[];
  readonly resolvers?: readonly CredentialResolver[];
  /** What the document's first block said; evaluated once for all sends of a run. */
  readonly frontmatter?: EvaluatedFrontmatter;
  /** Where it is remembered what other files were like; left out, their changes are not told. */
  readonly files?: FileMemory;
  /** Where it is remembered that a reply has not ended; left out, it is not. */
  readonly replies?: ReplyMemory;
  /** Where it is remembered what earlier thinking belongs to; left out, the provider decides what still counts. */
  readonly thinking?: ThinkingMemory;
  /** Where it is remembered what requests used; left out, it is not. */
  readonly usage?: UsageLog;
  /** What the requests of a run may use, and what they have used. @default those of the settings, for all sends together */
  readonly limits?: RunLimits;
  /** Whether a request that may succeed later is made again, as long as nothing of a reply came. @default true */
  readonly retry?: boolean;
  /** How many requests the provider gets at a time. @default one that is shared with nobody */
  readonly limiter?: RequestLimiter;
  /** @default the time of this machine */
  readonly clock?: Clock;
}

/** How often one request is made again without something that the provider refused. */
const MOST_CONCESSIONS = 2;

/** How often a reply that the provider paused is sent back to it. */
const MOST_RESUMES = 20;

/** Characters of a reply that may wait to be written before no more is read. */
const MOST_WAITING = 1 << 18;

/**
 * Makes the function that sends the document as it then stands and writes the reply.
 *
 * A send that fails before any content leaves the document byte-identical. Warnings of a completed send are in
 * its outcome; those of any other are given as notices.
 */
export function createSend(options: SendOptions): Send {
  // One run sends many times, and says each thing about the document and the settings once.
  const said = new Set<string>();
  const { clock = systemClock, limits = new RunLimits(options.settings), limiter = new RequestLimiter() } =
    options;
  const keys = new KeyMemory(() => clock.now(), options.resolvers);
  const isNew = (words: string): boolean => !said.has(words) && said.add(words).size > 0;
  // What the provider refused for this model or at this address, it will refuse again.
  const refused = new Set<Concession>();
  return async (signal, { byPerson } = { byPerson: true }) => {
    const conceded = new Set(refused);
    let concessions = 0;
    let resumes = 0;
    // What is to be told once a request has been answered.
    const told: string[] = [];
    for (;;) {
      const may = { concede: concessions < MOST_CONCESSIONS, resume: resumes < MOST_RESUMES };
      const outcome = await attempt(signal, { conceded, resumes: resumes > 0, may, told, byPerson });
      if (outcome.kind === "paused") {
        resumes++;
        told.push(...outcome.warnings);
      } else if (outcome.kind === "refused") {
        concessions++;
        conceded.add(outcome.concession);
        // Thinking that comes from now on is none that was refused.
        if (outcome.concession !== "earlier-thinking") refused.add(outcome.concession);
        told.push(...outcome.warnings);
      } else return outcome;
    }
  };

  async function attempt(
    signal: AbortSignal,
    { conceded, resumes, may, told, byPerson }: Attempt,
  ): Promise<AttemptEnd> {
    if (signal.aborted) return { kind: "cancelled" };
    const { store, settings, environment, provider, emit } = options;
    const tools = options.tools();
    const prepared = await prepareRequest({
      chat: store.chat,
      document: store.path,
      settings,
      environment,
      provider,
      tools,
      templatedTools: options.templatedTools,
      frontmatter: options.frontmatter,
      keys,
      files: options.files,
      thinking: options.thinking,
      resumes,
      conceded,
    });
    if (prepared.kind === "failed") return prepared;
    for (const severity of ["error", "warning"]) {
      for (const diagnostic of prepared.diagnostics) {
        const { code, start, message } = diagnostic;
        if (diagnostic.severity !== severity || !isNew(`${code} ${start} ${message}`)) continue;
        emit({ event: "diagnostic", diagnostic });
      }
    }
    if (prepared.kind === "blocked") return prepared;
    const problem = limits.refusal({ ...upcoming(prepared, options), byPerson });
    if (problem !== null) return { kind: "failed", problem };
    const warnings = [...told.splice(0), ...prepared.warnings.filter(isNew)];
    const network = options.fetch === undefined
      ? await openNetwork(prepared.request.url, environment)
      : success(null);
    if (!network.ok) return { kind: "failed", problem: network.problem };
    try {
      const parts = { prepared: { ...prepared, warnings }, tools, may, network: network.value };
      const timed = { ...options, clock, limits };
      const enter = () =>
        limiter.enter(`${provider.name} ${new URL(prepared.request.url).origin}`, {
          most: settings.providers[provider.name]?.max_requests ?? null,
          clock,
          signal,
        });
      const outcome = await sendPatiently(timed, { enter, begin: () => new Sending(timed, parts) }, signal);
      if (outcome.kind === "failed" && outcome.problem.code === KEY_REFUSED) keys.forget(provider.name);
      return outcome;
    } finally {
      network.value?.close();
    }
  }
}

/** The code of an error about the key: one that was made for a time may have ended before it. */
const KEY_REFUSED = "provider-authentication";

/** What limits go by of a request that is ready to go. */
function upcoming(
  { request, model }: Extract<Sendable, { kind: "ready" }>,
  { provider: { name: provider }, settings, clock = systemClock }: SendOptions,
) {
  const known = findModel(provider, model, settings);
  const rough = roughTokens(request);
  const prices = known === null ? null : pricesAt(known, dayOf(clock.date()), rough);
  return { provider, model, rough, window: known?.context ?? null, prices };
}

type TimedOptions = SendOptions & { readonly clock: Clock; readonly limits: RunLimits };

/** Makes a request, and again while the provider cannot answer and nothing of a reply has come. */
async function sendPatiently(
  { emit, retry = true, clock }: TimedOptions,
  { enter, begin }: {
    readonly enter: () => ReturnType<RequestLimiter["enter"]>;
    readonly begin: () => Sending;
  },
  signal: AbortSignal,
): Promise<AttemptEnd> {
  // What is waited for a turn is no patience with the provider.
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
      const error = sending.nothingCame(exchange);
      const { wait, tried } = retry && error !== null ? patience.next(error) : { wait: null, tried: null };
      place.leave(error === null ? "answered" : isTooMany(error) ? "refused" : "neither", wait ?? 0);
      if (error === null || wait === null) return await sending.end(exchange, tried);
      emit({ event: "request:retrying", attempt: patience.tries, of: MOST_TRIES, wait, error });
      if (!await clock.wait(wait, signal)) return await sending.end({ kind: "cancelled" });
    } finally {
      place.leave("neither");
    }
  }
}

/** Whether the provider got more than it takes at the moment; a limit that is used up for good is another matter. */
function isTooMany({ code, retry }: ProviderError): boolean {
  return code === "provider-rate-limit" && retry !== undefined;
}

/** What one request is made with. */
interface SendingParts {
  readonly prepared: Extract<Sendable, { kind: "ready" }>;
  readonly tools: readonly OfferedTool[];
  readonly may: Attempt["may"];
  /** Null where the caller makes the requests. */
  readonly network: Network | null;
}

/** What one try of a request may and must do. */
interface Attempt {
  readonly conceded: ReadonlySet<Concession>;
  /** The model's last turn is a reply that the provider paused. */
  readonly resumes: boolean;
  readonly may: { readonly concede: boolean; readonly resume: boolean };
  /** What earlier tries have to tell; taken by this one. */
  readonly told: string[];
  /** Whether a person asks for this very request. */
  readonly byPerson: boolean;
}

type AttemptEnd =
  | SendOutcome
  /** The provider did not take the request as it was, and may take it without something. */
  | { readonly kind: "refused"; readonly concession: Concession; readonly warnings: readonly string[] }
  /** The provider wants the reply back as it is, to go on with it. */
  | { readonly kind: "paused"; readonly warnings: readonly string[] };

/** One request and its reply. */
class Sending {
  readonly #options: TimedOptions;
  readonly #prepared: SendingParts["prepared"];
  readonly #network: SendingParts["network"];
  readonly #begun: { readonly at: number; readonly date: Date };
  readonly #reader: StreamReader;
  readonly #writer: ReplyWriter;
  readonly #commits: ReplyCommits;
  readonly #unfinished: UnfinishedCalls;
  #usage: Usage | null = null;
  #stop: Extract<Effect, { kind: "stop" }> | null = null;
  /** What the reader told of the reply. */
  readonly #notices: string[] = [];
  /** What has to be remembered of the reply. */
  readonly #notes = new Map<string, string>();
  /** The first line of the stream that could not be read, and how many there were. */
  #lost: { readonly line: string; count: number } | null = null;
  #error: ProviderError | null = null;
  readonly #may: Attempt["may"];
  /** Whether any content came: the provider has begun to answer, and to charge for it. */
  #came = false;
  /** The server leaves out what does not fit its window, and says nothing. */
  #trims = false;

  constructor(options: TimedOptions, { prepared, tools, may, network }: SendingParts) {
    this.#may = may;
    this.#options = options;
    this.#prepared = prepared;
    this.#network = network;
    this.#begun = { at: options.clock.now(), date: options.clock.date() };
    this.#reader = options.provider.reader(tools);
    const { chat } = options.store;
    this.#unfinished = new UnfinishedCalls(options);
    this.#writer = new ReplyWriter(
      openTurn(chat, "Assistant"),
      chat.eol,
      (id) => chat.call(id) !== undefined || chat.result(id) !== undefined,
    );
    this.#commits = new ReplyCommits(
      options.store,
      () => this.#writer.take(),
      { interval: options.commitInterval, before: () => this.#unfinished.note(this.#writer.calls) },
    );
  }

  /** Makes the request; what comes of the reply goes to the document on the way. */
  async exchange(signal: AbortSignal): Promise<Exchange> {
    const { settings, provider, emit } = this.#options;
    const { request, model } = this.#prepared;
    const network = this.#network;
    const { timeout, connectTimeout } = resolveParameters(settings, provider.name);
    emit({ event: "request:sending", provider: provider.name, model });
    return await post({
      request,
      timeout,
      connectTimeout,
      signal,
      fetch: network?.fetch ?? this.#options.fetch,
      proxy: network?.proxy ?? null,
      reach: network === null ? undefined : reachable,
      onEvent: (data, headers, source) => this.#event(data, headers, source),
      room: () => this.#room(),
      onUnreadable: (data) => this.#unreadable(data),
      onDone: () => this.#apply(this.#reader.done?.() ?? []),
    });
  }

  /** What is waited for when the reply comes faster than it can be written; undefined when it does not. */
  #room(): Promise<void> | undefined {
    const waits = this.#options.stream !== false && this.#writer.waiting > MOST_WAITING;
    return waits ? this.#commits.catchUp() : undefined;
  }

  /** Why nothing at all came of the reply; null when something did, or the person stopped it. */
  nothingCame(exchange: Exchange): ProviderError | null {
    if (exchange.kind === "cancelled" || this.#came || this.#stop !== null) return null;
    return this.#error ?? this.#failure(exchange);
  }

  /** Ends the reply in the document; `tried` is what else there is to say about an error. */
  async end(exchange: Exchange, tried: string | null = null): Promise<AttemptEnd> {
    if (this.#writer.begun) {
      this.#notices.push(...await this.#prepared.log?.finish(this.#options.thinking) ?? []);
      await this.#keepNotes();
    }
    const ending = this.#ending(exchange, tried);
    const problem = await this.#commits.finish((answered) => this.#writer.finish(ending.reply, answered));
    // A document that could not take the end does not say how the reply ended.
    if (problem === null) await this.#unfinished.end();
    const outcome: SendOutcome = problem === null ? ending.outcome : { kind: "failed", problem };
    await this.#report(outcome, problem === null ? ending.error : null);
    return outcome.kind === "completed" && ending.reply.kind === "paused"
      ? { kind: "paused", warnings: outcome.warnings }
      : outcome;
  }

  #event(data: object, headers: Headers, source: string): "stop" | "more" {
    return this.#apply(this.#reader.event(data, headers, source));
  }

  #apply(effects: readonly Effect[]): "stop" | "more" {
    for (const effect of effects) {
      this.#error = this.#effect(effect) ??
        outgrown(this.#options.store.chat.byteLength, this.#writer.waiting);
      if (this.#error !== null) return "stop";
    }
    if (this.#options.stream !== false) this.#commits.touch();
    return this.#reader.closed ? "stop" : "more";
  }

  /** A line that was lost: what is open is no longer whole, and the person is told, once for all of them. */
  #unreadable(data: string): void {
    this.#reader.damaged();
    this.#lost ??= { line: data, count: 0 };
    this.#lost.count++;
  }

  /** What the provider refused of a request that brought nothing, where another try can do without. */
  refused(exchange: Exchange): Extract<AttemptEnd, { kind: "refused" }> | null {
    if (!this.#may.concede) return null;
    if (exchange.kind === "cancelled" || this.#writer.begun || this.#stop !== null) return null;
    const error = this.#error ?? this.#failure(exchange);
    const concession = this.#options.provider.concession?.(error) ?? null;
    if (concession === null || !this.#prepared.mayConcede(concession)) return null;
    const notice = concessionNotice(concession, error, this.#options.provider.display);
    return { kind: "refused", concession, warnings: [...this.#prepared.warnings, notice] };
  }

  /** Nothing but the quality of later replies depends on them, so that a state folder that takes nothing stops nothing. */
  async #keepNotes(): Promise<void> {
    const { thinking } = this.#options;
    const known = thinking?.thinking.notes;
    const news = [...this.#notes].filter(([key, value]) => known?.get(key) !== value)
      .map(([key, value]) => ({ kind: "note" as const, key, value }));
    if (news.length === 0) return;
    try {
      await thinking?.recordThinking(news);
    } catch (thrown) {
      this.#notices.push(`What the provider said of its reply cannot be kept: ${thrownText(thrown)}.`);
    }
  }

  #effect(effect: Effect): ProviderError | null {
    this.#prepared.log?.note(effect);
    if (effect.kind === "error") return effect.error;
    if (effect.kind === "usage") this.#usage = mergeUsage(this.#usage, effect.usage);
    else if (effect.kind === "stop") this.#stop = effect;
    else if (effect.kind === "trims") this.#trims = true;
    else if (effect.kind === "note") {
      this.#notes.set(quickHash(effect.about), effect.value ?? this.#prepared.model);
    } else if (effect.kind === "notice") this.#notices.push(effect.message);
    else if (effect.kind === "answering") {
      const other = otherModel(this.#options.provider.name, this.#prepared.model, effect.model);
      if (other !== null) this.#notices.push(other);
    } else if (effect.kind !== "dropped") {
      // A reply that thinks or writes a call has begun, whatever of it is in the document yet.
      this.#came = true;
      if (effect.kind === "progress") {
        const { block, name, characters } = effect;
        this.#options.emit({ event: "reply:progress", block, name, characters });
      }
    }
    const error = this.#writer.apply(effect);
    if (effect.kind === "thinking" && !isBlank(effect.content)) {
      this.#options.emit({ event: "thinking", text: trimBlank(effect.content) });
    }
    if (effect.kind === "text") this.#tell(effect.text);
    return error;
  }

  /** Passes on a text that was taken in, with the line on which it begins. */
  #tell(text: string): void {
    const before = this.#writer.lines - (text.split("\n").length - 1);
    this.#options.emit({ event: "text", text, line: this.#commits.line + Math.max(0, before) });
  }

  /** What stands below the reply and what the caller is told. */
  #ending(
    exchange: Exchange,
    tried: string | null,
  ): { reply: ReplyEnd; outcome: SendOutcome; error: ProviderError | null } {
    const { provider } = this.#options;
    if (exchange.kind === "cancelled") {
      return {
        reply: { kind: "interrupted", message: REPLY_STOPPED },
        outcome: { kind: "cancelled" },
        error: null,
      };
    }
    const stop = this.#stop;
    const error = this.#error ?? (stop === null ? this.#failure(exchange) : null);
    if (error !== null || stop === null) {
      const found = error ?? endedEarly();
      const problem = tried === null ? found : { ...found, details: [...found.details, tried] };
      const reply: ReplyEnd = { kind: "interrupted", message: problem.message };
      return { reply, outcome: { kind: "failed", problem }, error: problem };
    }
    if (stop.outcome === "blocked") {
      const blocked = blockedError(stop, provider.display, this.#writer.begun);
      return {
        reply: { kind: "interrupted", message: blocked.message },
        outcome: { kind: "failed", problem: blocked },
        error: blocked,
      };
    }
    const pauses = stop.outcome === "paused" && this.#writer.begun;
    const warnings = [
      ...this.#prepared.warnings,
      ...this.#losses(),
      ...this.#cut(),
      ...(pauses && this.#may.resume ? [] : replyWarnings(stop, this.#writer.begun)),
    ];
    const isCut = stop.outcome === "truncated" || stop.outcome === "paused";
    const reply = !this.#writer.begun ? "empty" : isCut ? "cut" : "whole";
    const outcome: SendOutcome = { kind: "completed", reply, usage: this.#usage, warnings };
    return { reply: { kind: pauses && this.#may.resume ? "paused" : "completed" }, outcome, error: null };
  }

  /** What of the request the server left out without a word. */
  #cut(): readonly string[] {
    const read = this.#usage === null ? null : promptTokens(this.#usage);
    const cut = this.#trims ? silentCut(this.#prepared.request.body, read) : null;
    return cut === null ? [] : [cut];
  }

  /** What of the reply is not in the document although it came. */
  #losses(): readonly string[] {
    if (this.#lost === null) return this.#notices;
    const { line, count } = this.#lost;
    const shown = JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}…` : line);
    const lines = count === 1 ? "A line of the stream was" : `${count} lines of the stream were`;
    return [...this.#notices, `${lines} no JSON (${shown}), so something of the reply may be missing.`];
  }

  /** The error of an exchange that brought no closing event. */
  #failure(exchange: Exclude<Exchange, { kind: "cancelled" }>): ProviderError {
    const { provider } = this.#options;
    if (exchange.kind === "failed") return exchange.error;
    if (exchange.kind === "body") {
      const { text, headers, status } = exchange;
      if (text.trim() === "" && status < 400) return endedEarly();
      return provider.readError(decodeBody(text), headers, status >= 400 ? status : undefined);
    }
    // Lines that are no SSE may be an error body under the wrong type; they count only without a reply.
    const stray = this.#writer.begun ? "" : exchange.lines.join("\n");
    return stray.trim() === "" ? endedEarly() : provider.readError(decodeBody(stray), exchange.headers);
  }

  async #report(outcome: SendOutcome, error: ProviderError | null): Promise<void> {
    const { emit } = this.#options;
    const ended = outcome.kind === "completed" || outcome.kind === "cancelled" ? outcome.kind : "errored";
    const record = this.#record(ended);
    if (record !== null) await this.#keep(record);
    const filling = record === null
      ? null
      : this.#options.limits.take({ rough: roughTokens(this.#prepared.request), record });
    if (filling !== null) emit({ event: "notice", code: "context-filling", message: filling });
    const used = record === null ? {} : { record };
    if (outcome.kind === "completed") {
      emit({ event: "request:finished", status: "completed", usage: outcome.usage, ...used });
      return;
    }
    for (const message of [...this.#prepared.warnings, ...this.#losses()]) {
      emit({ event: "notice", code: "request-warning", message });
    }
    const status = ended === "cancelled" ? ended : "errored";
    emit({ event: "request:finished", status, usage: null, ...used, ...(error === null ? {} : { error }) });
  }

  /** What the request used by the word of the provider; null when it said nothing. */
  #record(ended: UsageRecord["ended"]): UsageRecord | null {
    const { store, provider, settings, clock } = this.#options;
    if (this.#usage === null) return null;
    const { at, date } = this.#begun;
    return recordOf({
      begun: date,
      seconds: (clock.now() - at) / 1000,
      document: store.path,
      provider: provider.name,
      model: this.#prepared.model,
      ended,
      usage: this.#usage,
    }, {
      settings,
      outputIncludesThoughts: provider.outputIncludesThoughts,
      retention: resolveParameters(settings, provider.name).cacheRetention,
    });
  }

  /** A reply that was paid for is not given up because its price cannot be noted; that it cannot is told. */
  async #keep(record: UsageRecord): Promise<void> {
    try {
      await this.#options.usage?.record(record);
    } catch (thrown) {
      const message = `What this request used cannot be kept: ${thrownText(thrown)}. ` +
        "Make room, or name a writable state folder with XDG_STATE_HOME.";
      this.#options.emit({ event: "notice", code: "state-unwritable", message });
    }
  }
}

function replyWarnings(stop: Extract<Effect, { kind: "stop" }>, begun: boolean): readonly string[] {
  const warnings: string[] = [];
  if (stop.outcome === "truncated") {
    warnings.push(`The reply was cut${own(CUTS, stop.reason ?? "") ?? ` (${stop.reason}).`}`);
  }
  if (stop.outcome === "paused" && begun) {
    warnings.push(`The reply was cut: the provider paused it ${MOST_RESUMES} times and more.`);
  }
  if (!begun) warnings.push("The request was completed, but the reply has no content.");
  return warnings;
}

/** Why a reply ended before it was complete, and what helps. */
const CUTS: Readonly<Record<string, string>> = {
  max_tokens: ": the model reached its output limit (max_tokens).",
  model_context_window_exceeded:
    ": the conversation fills all that the model can take in at once. Go on in a new " +
    "document, or take out what is not needed any more.",
};

/** A reply that the provider or the model itself broke off. The same request would be refused again. */
function blockedError(
  stop: Extract<Effect, { kind: "stop" }>,
  provider: string,
  begun: boolean,
): ProviderError {
  const details = stop.details === undefined ? "" : `: ${stop.details}`;
  const message = `Response blocked by ${provider} (${stop.reason ?? "no reason given"}${details})`;
  const first = begun ? "Delete what came of the reply, then put" : "Put";
  const next =
    `${first} your message in other words, or ask another model (--model NAME): the same request will be ` +
    "refused again.";
  return providerError("blocked", message, { next });
}

function endedEarly(): ProviderError {
  return providerError("network", "The connection ended before the reply was complete.", {
    retry: { after: null },
  });
}

/** Decoded JSON, or the text itself when it is none. */
function decodeBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
