// One request and its reply, which is written into the document as it streams.

import { quickHash } from "../../base/hash.ts";
import { thrownText } from "../../base/problem.ts";
import { openTurn } from "../../parser/edits/turn.ts";
import { timeIn } from "../../providers/http/patience.ts";
import { isReachable, type Network } from "../../providers/http/network.ts";
import { type Exchange, post } from "../../providers/http/post.ts";
import { otherModel } from "../../providers/models/warnings.ts";
import { resolveParameters } from "../../providers/request/parameters.ts";
import { chosenReplyLimit } from "../../providers/request/checks/reply_limit.ts";
import type {
  Effect,
  OfferedTool,
  ProviderError,
  RequestFallback,
  StreamReader,
  ThinkingPart,
  Usage,
} from "../../providers/types.ts";
import { mergeUsage, promptTokens } from "../../providers/models/usage.ts";
import type { RequestEnd, RequestStatus, ThinkingEntry } from "../types.ts";
import { toolInError } from "../../providers/request/checks/schema.ts";
import { shownThinking } from "./block_text.ts";
import { ReplyCommits } from "./commits.ts";
import { bodyText, decodeBody, endingOf, failureOf, type StopEffect } from "./ending.ts";
import { replySizeError } from "./limits.ts";
import type { TimedOptions } from "./options.ts";
import { ReplyWriter } from "./reply.ts";
import { reportEnd, reportUsage } from "./report.ts";
import { type ReadyRequest, serverToolKey } from "./request.ts";
import { silentCut } from "./silent_cut.ts";
import { describeFallback } from "./thinking/notices.ts";
import { thinkingKey } from "./thinking/preserved.ts";
import { refusedThinking } from "./thinking/refused.ts";
import { UnfinishedCalls } from "./unfinished_calls.ts";

/** Number of characters of a reply that may wait to be written before reading pauses. */
const MOST_WAITING = 1 << 18;

/**
 * Decides whether a request may be repeated: with a fallback, to continue a reply that the provider paused, or with
 * another key.
 */
export interface MayAgain {
  readonly fallBack: boolean;
  readonly resume: boolean;
  readonly renew: boolean;
}

/** A fallback, with the earlier thinking that it leaves out. */
interface Reduction {
  readonly fallback: RequestFallback;
  readonly omitted: readonly ThinkingPart[];
}

export interface SendingParts {
  readonly prepared: ReadyRequest;
  readonly tools: readonly OfferedTool[];
  readonly may: MayAgain;
  /** Adds to an error where the refused key is from. */
  explain(error: ProviderError): ProviderError;
  /** The network connection; null if the caller makes the requests. */
  readonly network: Network | null;
}

export class Sending {
  readonly #options: TimedOptions;
  readonly #prepared: SendingParts["prepared"];
  readonly #network: SendingParts["network"];
  readonly #explain: SendingParts["explain"];
  readonly #begun: { readonly at: number; readonly date: Date };
  readonly #reader: StreamReader;
  readonly #writer: ReplyWriter;
  readonly #commits: ReplyCommits;
  readonly #unfinished: UnfinishedCalls;
  #usage: Usage | null = null;
  #stop: StopEffect | null = null;
  /** Notices from the reader. */
  readonly #notices: string[] = [];
  /** Values to remember with the reply. */
  readonly #notes = new Map<string, string>();
  /** The first line of the stream that could not be read, and the number of such lines. */
  #lost: { readonly line: string; count: number } | null = null;
  /** True if the reader left something out, or does not know whether the reply is complete. */
  #isDoubtful = false;
  #error: ProviderError | null = null;
  /** The model that answered, as the provider names it; null until it does. */
  #answered: string | null = null;
  readonly #may: MayAgain;
  /** True if any content arrived. The provider has then begun to answer, and to charge for it. */
  #received = false;
  /** True if the server silently drops text that does not fit its window. */
  #trims = false;

  constructor(options: TimedOptions, { prepared, tools, may, network, explain }: SendingParts) {
    this.#explain = explain;
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
      { interval: options.commitInterval, before: () => this.#noteCalls() },
    );
  }

  /** Settles when the payload of a provider's tool is kept, and the effects after it are applied; null if none waits. */
  #keeping: Promise<void> | null = null;
  /** Effects that wait until a payload is kept. */
  #waiting: Effect[] = [];

  /** Notes calls of a reply that grows in the document. The reply of a batch is written at once, with its end. */
  async #noteCalls(): Promise<void> {
    if (this.#options.answer === undefined) await this.#unfinished.note(this.#writer.calls);
  }

  /** Makes the request. The reply goes into the document meanwhile. */
  async exchange(signal: AbortSignal): Promise<Exchange> {
    const { settings, provider, emit } = this.#options;
    const { request, model } = this.#prepared;
    const network = this.#network;
    const { timeout, pingTimeout, connectTimeout } = resolveParameters(settings, provider.name);
    emit({ event: "request:sending", provider: provider.name, model });
    const exchange = await post({
      request,
      timeout,
      pingTimeout,
      connectTimeout,
      signal,
      fetch: network?.fetch ?? this.#options.fetch,
      proxy: network?.proxy ?? null,
      reach: network === null ? undefined : isReachable,
      onEvent: (data, headers, source) => this.#event(data, headers, source),
      room: () => this.#room(),
      onUnreadable: (data) => this.#unreadable(data),
      onDone: () => this.#apply(this.#reader.done?.() ?? []),
    });
    await this.#kept();
    this.#readWhole(exchange);
    await this.#kept();
    return exchange;
  }

  /** Reads a reply that came as one JSON value instead of a stream. */
  #readWhole(exchange: Exchange): void {
    if (this.#received || this.#stop !== null || this.#error !== null) return;
    if (exchange.kind === "body" ? exchange.status >= 400 : exchange.kind !== "stream") return;
    const effects = this.#reader.whole(decodeBody(bodyText(exchange)));
    if (effects !== null) this.#apply(effects);
  }

  /** Returns a promise to wait for if the reply arrives faster than it can be written; else undefined. */
  #room(): Promise<void> | undefined {
    if (this.#keeping !== null) return this.#keeping;
    const waits = this.#options.stream !== false && this.#writer.waiting > MOST_WAITING;
    return waits ? this.#commits.catchUp() : undefined;
  }

  /** Returns why no part of the reply arrived; null if a part arrived, or if the user stopped the request. */
  receivedNothing(exchange: Exchange): ProviderError | null {
    if (exchange.kind === "cancelled" || this.#stop !== null) return null;
    const begun = this.#error?.retry?.most === undefined ? this.#received : this.#writer.begun;
    return begun ? null : this.#error ?? this.#failure(exchange);
  }

  /** Counts what a request used before it is made again. */
  async abandon(): Promise<void> {
    if (this.#usage !== null) await reportUsage(this.#ended("errored"), this.#options);
  }

  #ended(status: RequestStatus) {
    return {
      prepared: this.#prepared,
      begun: this.#begun,
      usage: this.#usage,
      answered: this.#answered,
      status,
    };
  }

  /** Ends the reply in the document; `tried` is an additional sentence for an error. */
  async end(exchange: Exchange, tried: string | null = null): Promise<RequestEnd> {
    if (this.#writer.begun) {
      this.#notices.push(...await this.#prepared.log.finish(this.#options.journal));
      await this.#keepNotes();
    }
    const sent = endingOf(
      { exchange, stop: this.#stop, error: this.#error, begun: this.#writer.begun },
      {
        provider: this.#options.provider,
        named: (error) => this.#explain(this.#withToolName(error)),
        usage: this.#usage,
        warnings: [...this.#prepared.warnings, ...this.#losses(), ...this.#cut()],
        isDoubtful: this.#isDoubtful || this.#lost !== null,
        tried,
        waitLimit: this.#options.settings.run.wait_for_limit,
        timeIn: (seconds) => timeIn(seconds, this.#options.clock),
        mayResume: this.#may.resume,
        isBatched: this.#options.answer !== undefined,
        chosenLimit: chosenReplyLimit(
          this.#options.settings,
          this.#options.provider.name,
          this.#prepared.model,
        ),
      },
    );
    const problem = await this.#commits.finish((answered) => this.#writer.finish(sent, answered));
    // If writing the end failed, the document does not show how the reply ended.
    if (problem === null) await this.#unfinished.end();
    const end: RequestEnd = problem === null ? sent : { kind: "failed", problem };
    await reportEnd({
      ...this.#ended(
        end.kind === "failed" ? "errored" : end.kind === "cancelled" ? "cancelled" : "completed",
      ),
      error: problem === null && sent.kind === "failed" ? sent.problem : null,
      losses: this.#losses(),
    }, this.#options);
    return end;
  }

  #event(data: object, headers: Headers, source: string): "stop" | "more" {
    return this.#apply(this.#reader.event(data, headers, source));
  }

  #apply(effects: readonly Effect[]): "stop" | "more" {
    const { store } = this.#options;
    for (const effect of effects) {
      if (this.#keeping !== null) {
        this.#waiting.push(effect);
        continue;
      }
      if (effect.kind === "server_tool") {
        this.#received = true;
        this.#keeping = this.#keepServerTool(effect).finally(() => {
          this.#keeping = null;
          this.#apply(this.#waiting.splice(0));
        });
        continue;
      }
      this.#error = this.#effect(effect) ??
        replySizeError(store.chat.byteLength + (store.draftLength ?? 0), this.#writer.waiting);
      if (this.#error !== null) return "stop";
    }
    if (this.#options.stream !== false) this.#commits.touch();
    return this.#reader.closed ? "stop" : "more";
  }

  async #kept(): Promise<void> {
    while (this.#keeping !== null) await this.#keeping;
  }

  /**
   * Keeps the payload of a provider's tool before the document names it. If it cannot be kept, the lines of the tool are
   * still shown.
   */
  async #keepServerTool(effect: Extract<Effect, { kind: "server_tool" }>): Promise<void> {
    let value = "";
    try {
      const { keepPayload } = await import("../memory/server_tools.ts");
      if (effect.json !== "") value = await keepPayload(effect.json, this.#options.environment);
    } catch (thrown) {
      this.#notices.push(
        `Cannot keep what the provider's tool returned: ${
          thrownText(thrown)
        }. Later requests contain only its ` +
          "visible lines.",
      );
    }
    const line = this.#commits.line + this.#writer.lines;
    this.#writer.applyServerTool(effect, value);
    this.#options.emit({ event: "reply:tool", what: effect.what, text: effect.rendering, line });
  }

  /** A line was lost, so the open block is incomplete. The loss is reported once for all lines. */
  #unreadable(data: string): void {
    this.#reader.damaged();
    this.#lost ??= { line: data, count: 0 };
    this.#lost.count++;
  }

  /** Returns the fallback for a request that the provider rejected; null if none applies or part of a reply arrived. */
  refused(exchange: Exchange): Extract<RequestEnd, { kind: "refused" }> | null {
    if (!this.#may.fallBack) return null;
    if (exchange.kind === "cancelled" || this.#writer.begun || this.#stop !== null) return null;
    const error = this.#withToolName(this.#error ?? this.#failure(exchange));
    const tool = toolInError(error.message, this.#prepared.tools);
    const candidates: readonly RequestFallback[] = [
      ...(tool === null || error.class !== "other" ? [] : [`tool ${tool.name}` as const]),
      ...this.#options.provider.fallbacks?.(error) ?? [],
    ];
    const reduction = candidates.flatMap((fallback) => this.#reductions(fallback, error))
      .find(({ fallback, omitted }) => this.#prepared.mayFallBack(fallback, omitted));
    if (reduction === undefined) return null;
    const { fallback, omitted } = reduction;
    const notice = describeFallback(fallback, error, this.#options.provider.display, omitted);
    return {
      kind: "refused",
      fallback,
      omitted: fallback === "server-blocks"
        ? this.#prepared.serverBlocks.map((part) => serverToolKey(part))
        : omitted.map(thinkingKey),
      warnings: [...this.#prepared.warnings, notice],
    };
  }

  /** Returns the ways to apply a fallback. Thinking is left out in steps, as little as possible first. */
  #reductions(fallback: RequestFallback, error: ProviderError): readonly Reduction[] {
    if (fallback !== "earlier-thinking") return [{ fallback, omitted: [] }];
    const { thinking } = this.#prepared;
    const steps = refusedThinking(error, thinking).map((omitted): Reduction => ({
      fallback: omitted.length < thinking.all.length ? "some-thinking" : fallback,
      omitted,
    }));
    // A signature may be missing although there is no thinking.
    return steps.length === 0 ? [{ fallback, omitted: [] }] : steps;
  }

  /** Only the quality of later replies depends on notes, so failing to store them stops nothing. */
  async #keepNotes(): Promise<void> {
    const { journal } = this.#options;
    const known = journal?.thinking.notes;
    const keys = this.#prepared.serverBlocksReported;
    const news: ThinkingEntry[] = [
      ...[...this.#notes].filter(([key, value]) => known?.get(key) !== value)
        .map(([key, value]) => ({ kind: "note" as const, key, value })),
      ...(keys.length === 0 ? [] : [{ kind: "unread" as const, keys }]),
    ];
    if (news.length === 0) return;
    try {
      await journal?.recordThinking(news);
    } catch (thrown) {
      this.#notices.push(`Cannot save the provider's notes on its reply: ${thrownText(thrown)}.`);
    }
  }

  #effect(effect: Effect): ProviderError | null {
    this.#prepared.log.note(effect);
    if (effect.kind === "error") return effect.error;
    if (effect.kind === "usage") this.#usage = mergeUsage(this.#usage, effect.usage);
    else if (effect.kind === "stop") this.#stop = effect;
    else if (effect.kind === "trims") this.#trims = true;
    else if (effect.kind === "note") {
      this.#notes.set(quickHash(effect.about), effect.value ?? this.#prepared.model);
    } else if (effect.kind === "notice") {
      this.#isDoubtful ||= effect.isAside !== true;
      this.#notices.push(effect.message);
    } else if (effect.kind === "answering") {
      this.#answered = effect.model;
      const other = otherModel(this.#options.provider.name, this.#prepared.model, effect.model);
      if (other !== null) this.#notices.push(other);
    } else if (effect.kind !== "dropped") {
      // A reply that thinks or writes a call has begun, even if the document contains nothing of it yet.
      this.#received = true;
      if (effect.kind === "progress") {
        const { block, name, characters } = effect;
        this.#options.emit({ event: "reply:progress", block, name, characters });
      }
    }
    // Thinking is recorded first, because the writer consumes the content.
    if (effect.kind === "thinking") {
      for (const text of shownThinking(effect.content)) this.#options.emit({ event: "thinking", text });
    }
    const error = this.#writer.apply(effect);
    if (effect.kind === "text") this.#tell(effect.text);
    return error;
  }

  /** Emits text that was written, with the line on which it begins. */
  #tell(text: string): void {
    const before = this.#writer.lines - (text.split("\n").length - 1);
    this.#options.emit({ event: "text", text, line: this.#commits.line + Math.max(0, before) });
  }

  /** Returns a warning if the server silently left out part of the request. */
  #cut(): readonly string[] {
    const read = this.#usage === null ? null : promptTokens(this.#usage);
    const cut = this.#trims ? silentCut(this.#prepared.request.body, read) : null;
    return cut === null ? [] : [cut];
  }

  /** Returns the parts of the reply that arrived but are not in the document. */
  #losses(): readonly string[] {
    if (this.#lost === null) return this.#notices;
    const { line, count } = this.#lost;
    const shown = JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}…` : line);
    const lines = count === 1 ? "A line of the stream was" : `${count} lines of the stream were`;
    return [...this.#notices, `${lines} not valid JSON (${shown}).`];
  }

  /** Returns the error of an exchange without a closing event. */
  #failure(exchange: Exclude<Exchange, { kind: "cancelled" }>): ProviderError {
    return failureOf(exchange, this.#options.provider, this.#writer.begun);
  }

  /** Adds the name of the tool that an error names only by its place in the request. */
  #withToolName(error: ProviderError): ProviderError {
    const tool = toolInError(error.message, this.#prepared.tools);
    return tool === null ? error : { ...error, message: `${error.message} (the tool ${tool.name})` };
  }
}
