// Everything before the network: evaluates the document, finds key and address, builds the exact request.

import { isTooLong } from "../../base/bytes.ts";
import type { Environment } from "../../base/environment.ts";
import { quickHash } from "../../base/hash.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Chat, Diagnostic } from "../../parser/types.ts";
import { evaluateChat, type EvaluatedFrontmatter } from "../../prompt/evaluate.ts";
import { findKeyInPrompt } from "../../prompt/find_key.ts";
import type { FileRead, Part, Prompt } from "../../prompt/types.ts";
import { KeyMemory } from "../../providers/keys/memory.ts";
import { resolveBaseUrl } from "../../providers/http/endpoint.ts";
import { dayOf, findModel, pricesAt } from "../../providers/models/find.ts";
import { sameBody } from "../../providers/http/body.ts";
import { withoutResultFiles } from "../../providers/request/result_files.ts";
import { usableTools } from "../../providers/request/checks/schema.ts";
import { resolveParameters } from "../../providers/request/parameters.ts";
import { sortedTools } from "../../providers/request/wire.ts";
import { tagName } from "../../providers/request/foreign.ts";
import type { ServerToolOffer } from "../../providers/server_tools/offer.ts";
import type { Placed } from "../../providers/server_tools/place.ts";
import type {
  OfferedTool,
  Provider,
  ProviderRequest,
  RequestFallback,
  ServerToolPart,
  ThinkingPart,
} from "../../providers/types.ts";
import { fileDrift, rememberFiles } from "./drift.ts";
import { preserve, type Preserved, ThinkingLog } from "./thinking/log.ts";
import { type CacheFacts, earlierNotices, mismatchProblem, otherKeyNotice } from "./thinking/notices.ts";
import {
  accountOf,
  evaluateOrigin,
  lastAccount,
  type OriginEvaluation,
  OriginLog,
} from "./thinking/origin.ts";
import { thinkingKey } from "./thinking/preserved.ts";
import type { SentThinking } from "./thinking/refused.ts";
import { waitsForBatch } from "../plan/batched.ts";
import { lastWordIsModels, nothingToSend } from "../plan/open_calls.ts";
import { lastWord } from "../plan/refusals.ts";
import { cacheKey } from "../memory/cache_key.ts";
import type { Journal } from "../types.ts";

export interface RequestOptions {
  readonly chat: Chat;
  /** Absolute path of the document, or null if unsaved. */
  readonly document: string | null;
  readonly settings: Settings;
  readonly environment: Environment;
  readonly provider: Provider;
  readonly tools: readonly OfferedTool[];
  /** Tools whose result may be a single file reference. @default the built-in ones */
  readonly templatedTools?: readonly string[];
  /** Keys cached during this run. @default each is looked up again */
  readonly keys?: KeyMemory;
  /** The evaluated frontmatter. */
  readonly frontmatter?: EvaluatedFrontmatter;
  /** The document's journal. @default nothing is remembered of files and earlier thinking */
  readonly journal?: Journal;
  /** True if the journal records which files the request was made from. @default true */
  readonly isSent?: boolean;
  /** True if the model's last turn is a reply that the provider paused and wants back. @default false */
  readonly resumes?: boolean;
  /** Fallbacks to apply, after the provider rejected earlier attempts. @default none */
  readonly fallbacks?: ReadonlySet<RequestFallback>;
  /** Keys of earlier thinking and blocks of provider tools to leave out, because the provider rejected it in earlier attempts. @default none */
  readonly omitted?: ReadonlySet<string>;
  /** True if the document is trusted, so that it may name what tools of providers returned elsewhere. @default false */
  readonly isTrusted?: () => Promise<boolean>;
  /** The time of the request. @default now */
  readonly now?: Date;
}

/** The secret of a request, and a digest of the account that signs thinking; null if that is unknown. */
interface RequestKey {
  readonly secret: string;
  readonly account: string | null;
}

/** A request ready to send, or what prevents it. */
export type Prepared =
  | {
    readonly kind: "ready";
    readonly request: ProviderRequest;
    readonly model: string;
    /** Diagnostics, which are only warnings. */
    readonly diagnostics: readonly Diagnostic[];
    readonly warnings: readonly string[];
    /** Files whose content is in the request. */
    readonly files: readonly FileRead[];
    /** The day named by a generated system prompt in the request. */
    readonly day?: string;
  }
  | { readonly kind: "blocked"; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: "failed"; readonly problem: Problem };

/** A request ready to send, with the facts that the sender needs. */
export type ReadyRequest = Extract<Prepared, { kind: "ready" }> & {
  /** Log of the thinking in the request. */
  readonly log: ThinkingLog | OriginLog;
  /** The signed thinking in the request. */
  readonly thinking: SentThinking;
  /** The blocks of provider tools in the request that go back unchanged. */
  readonly serverBlocks: readonly ServerToolPart[];
  /** Keys of the blocks of provider tools about which the warnings say that they do not go back. */
  readonly serverBlocksReported: readonly string[];
  /** The most dollars that the tools which the provider runs can cost; null if unknown. */
  readonly serverToolCost: number | null;
  /** The tools in the order of the request. */
  readonly tools: readonly OfferedTool[];
  /**
   * True if applying a fallback is allowed, and would change the request. `omitted` is the thinking that it leaves out.
   */
  readonly mayFallBack: (fallback: RequestFallback, omitted?: readonly ThinkingPart[]) => boolean;
};

/** A request ready to send, or what prevents it. */
export type Sendable = Exclude<Prepared, { kind: "ready" }> | ReadyRequest;

/** Replaces the secret wherever a request is shown. */
const HIDDEN_SECRET = "[hidden]";

/** Prepares the request that `send` posts, and remembers the files it was made from. */
export async function prepareRequest(options: RequestOptions): Promise<Sendable> {
  const { provider, environment, settings, keys = new KeyMemory(() => 0), journal, isSent = true } = options;
  const prepared = await prepare(options, async () => {
    const credential = await keys.get({ provider, environment, settings });
    if (!credential.ok) return credential;
    const account = await accountOf(provider, settings, credential.value);
    return success({ secret: credential.value.secret, account });
  });
  if (prepared.kind !== "ready" || journal === undefined || !isSent) return prepared;
  const reported = await rememberFiles(journal, prepared);
  return { ...prepared, diagnostics: [...prepared.diagnostics, ...reported] };
}

/**
 * Returns the exact request that a send would make, for `send --dry-run`. Body and address are the same byte for byte,
 * with `HIDDEN_SECRET` in place of the key, which therefore need not exist. It is assumed to be the last one used.
 */
export function dryRun(options: RequestOptions): Promise<Prepared> {
  const account = lastAccount(options.provider.name, recallFrom(options.journal));
  return prepare(options, () => Promise.resolve(success({ secret: HIDDEN_SECRET, account })));
}

async function prepare(options: RequestOptions, key: () => Promise<Outcome<RequestKey>>): Promise<Sendable> {
  try {
    return await assemble(options, key);
  } catch (thrown) {
    if (!isTooLong(thrown)) throw thrown;
    return { kind: "failed", problem: TOO_LARGE };
  }
}

/** The document and its files together exceed the maximum body size. */
const TOO_LARGE: Problem = {
  code: "request-too-large",
  message: "The request would be larger than the maximum of 512 MB.",
  next: "Attach less, or continue in a smaller document: flemma compact FILE",
};

async function assemble(
  options: RequestOptions,
  requestKey: () => Promise<Outcome<RequestKey>>,
): Promise<Sendable> {
  const { chat, document, settings, environment, provider, templatedTools, frontmatter } = options;
  const { fallbacks = new Set() } = options;
  const batched = waitsForBatch(chat);
  if (batched !== null) return { kind: "failed", problem: batched };
  const usable = (refused: ReadonlySet<RequestFallback>) =>
    usableTools(
      options.tools.filter(({ name }) => !refused.has(`tool ${name}`)),
      provider.kind ?? provider.name,
    );
  const { tools, warnings: leftOutTools } = usable(fallbacks);
  const evaluated = await evaluateChat(chat, {
    document,
    environment,
    templatedTools,
    frontmatter,
    settings,
  });
  const model = settings.model ?? provider.defaultModel ?? "";
  const place = await serverToolPlacing(evaluated, { model, hasTools: tools.length > 0 }, options);
  const placed = place(fallbacks);
  const { prompt } = placed;
  if (placed.problem !== null) return { kind: "failed", problem: placed.problem };
  const ending = endOf(prompt);
  const prefill = options.resumes === true || (settings.prefill && provider.takesPrefill(settings));
  if (ending === "model" && !prefill && lastWordIsModels(chat)) {
    return { kind: "failed", problem: lastWord(chat) };
  }
  const diagnostics = [
    ...prompt.diagnostics,
    ...nothingNew(chat, prompt, ending === "nothing" || (ending === "model" && !prefill)),
    ...(options.journal === undefined ? [] : fileDrift(options.journal, prompt.files)),
  ];
  if (diagnostics.some((diagnostic) => diagnostic.severity === "error")) {
    return { kind: "blocked", diagnostics };
  }
  const baseUrl = resolveBaseUrl(provider, settings, environment);
  if (!baseUrl.ok) return { kind: "failed", problem: baseUrl.problem };
  const lack = missing(provider, settings);
  if (lack !== null) return { kind: "failed", problem: lack };
  const key = await requestKey();
  if (!key.ok) return { kind: "failed", problem: key.problem };
  // This check comes after the key was looked up, because the check compares the document with the key.
  const leak = findKeyInPrompt(prompt, chat);
  if (leak !== null) return { kind: "failed", problem: leak };
  const day = dayOf(options.now ?? new Date());
  const recall = recallFrom(options.journal);
  const cachedAs = provider.usesCacheKey === true && document !== null
    ? await cacheKey(chat, document, environment)
    : null;
  const input = {
    prompt,
    tools,
    settings,
    cacheKey: cachedAs,
    serverTools: placed.offer.tools,
    key: key.value.secret,
    baseUrl: baseUrl.value,
    day,
    recall,
  };
  const outline = provider.outline?.(input) ?? null;
  const preserved = outline === null ? null : preserve(outline, options.journal);
  if (preserved?.outline.mismatch === "error" && preserved.evaluation.lost.length > 0) {
    return { kind: "failed", problem: mismatchProblem(preserved.outline, preserved.evaluation) };
  }
  const origin = preserved === null ? evaluateOrigin(prompt, provider.name, key.value.account, recall) : null;
  const refused = thinkingOf(prompt).filter((part) => options.omitted?.has(thinkingKey(part)));
  const leftOut = [...(preserved?.evaluation ?? origin!).leftOut, ...refused];
  const build = (fallbacks: ReadonlySet<RequestFallback>, omitted: readonly ThinkingPart[] = []) => {
    const { prompt, offer } = place(fallbacks);
    const reported = fallbacks.has("result-files") ? withoutResultFiles(prompt) : prompt;
    return provider.buildRequest({
      ...input,
      tools: usable(fallbacks).tools,
      serverTools: offer.tools,
      prompt: reported,
      leftOut: new Set([...leftOut, ...omitted]),
      fallbacks,
    });
  };
  const { request, warnings, thinking = new Map() } = build(fallbacks);
  const notices = preserved === null
    ? otherKeyNotice(origin!.news, provider.display)
    : earlierNotices(preserved, model, cacheFacts(provider.name, model, settings, day));
  return {
    kind: "ready",
    request,
    model,
    diagnostics,
    warnings: [...leftOutTools, ...placed.offer.warnings, ...placed.notices, ...notices, ...warnings],
    tools: sortedTools(tools),
    files: prompt.files,
    day: prompt.day,
    log: preserved === null
      ? new OriginLog({
        provider: provider.name,
        model,
        account: key.value.account,
        omitted: [...origin!.news, ...refused],
        sent: thinking,
      })
      : new ThinkingLog(preserved, model, thinking),
    thinking: sentThinking(preserved, origin, thinking, new Set(leftOut)),
    serverBlocks: placed.sent,
    serverBlocksReported: placed.reported.map(([part, reason]) => serverToolKey(part, reason)),
    serverToolCost: placed.offer.cost,
    mayFallBack: (fallback, omitted = []) =>
      (omitted.length === 0 || outline?.mismatch !== "error") &&
      !sameBody(build(new Set([...fallbacks, fallback]), omitted).request, request),
  };
}

/** Offers no tools that the provider runs, as most requests do. */
const NO_OFFER = { tools: [], warnings: [], cost: 0 };

/**
 * Returns the function that decides, with given fallbacks, which blocks of provider tools go back and which such tools
 * are offered. A conversation without such blocks and settings loads no code for them.
 */
async function serverToolPlacing(
  prompt: Prompt,
  request: { readonly model: string; readonly hasTools: boolean },
  { provider, settings, environment, journal, resumes = false, isTrusted, omitted }: RequestOptions,
): Promise<(fallbacks: ReadonlySet<RequestFallback>) => Placed & { readonly offer: ServerToolOffer }> {
  const isAsked = settings.server_tools.web_search.enabled || settings.server_tools.web_fetch.enabled;
  const isThere = prompt.history.some(({ parts }) => parts.some(({ kind }) => kind === "server_tool"));
  if (!isAsked && !isThere) {
    return () => ({ prompt, notices: [], reported: [], problem: null, sent: [], offer: NO_OFFER });
  }
  const [{ offerServerTools }, { placeServerTools }, { readPayloads }] = await Promise.all([
    import("../../providers/server_tools/offer.ts"),
    import("../../providers/server_tools/place.ts"),
    import("../memory/server_tools.ts"),
  ]);
  const payloads = await readPayloads(prompt, environment, isTrusted ?? (() => Promise.resolve(false)));
  return (fallbacks) => {
    const offer = fallbacks.has("server-tools") ? NO_OFFER : offerServerTools(provider, settings, request);
    const placed = placeServerTools(prompt, {
      provider: provider.serverTools?.tag ?? tagName(provider.name),
      display: provider.display,
      offered: new Set(offer.tools.map(({ name }) => name)),
      returnsCitations: provider.serverTools?.returnsCitations === true,
      payload: (part) => payloads.get(part) ?? { kind: "lost" },
      isRefused: (part) =>
        fallbacks.has("server-blocks") || journal?.thinking.stale.has(serverToolKey(part)) === true ||
        omitted?.has(serverToolKey(part)) === true,
      isReported: (part, reason) => journal?.thinking.unread.has(serverToolKey(part, reason)) === true,
      resumes,
    });
    return { ...placed, offer };
  };
}

/**
 * Returns the key under which a journal remembers that the provider refused a block, or that the person knows why it does
 * not go back.
 */
export function serverToolKey({ value }: ServerToolPart, reason = ""): string {
  return quickHash(`server tool ${reason} ${value}`);
}

/** Returns what was noted in a journal about earlier replies. */
function recallFrom(journal: Journal | undefined): (about: string) => string | null {
  const notes = journal?.thinking.notes;
  return (about) => notes?.get(quickHash(about)) ?? null;
}

/** Returns all signed or redacted thinking of a conversation. */
function thinkingOf({ history }: Prompt): readonly ThinkingPart[] {
  return history.flatMap(({ parts }) => parts).filter((part): part is ThinkingPart =>
    part.kind === "thinking" && (part.redacted || part.signature !== undefined)
  );
}

function sentThinking(
  preserved: Preserved | null,
  origin: OriginEvaluation | null,
  named: ReadonlyMap<string, ThinkingPart>,
  leftOut: ReadonlySet<ThinkingPart>,
): SentThinking {
  const isSent = (part: ThinkingPart) => !leftOut.has(part);
  if (preserved === null) {
    const { signed, isOwn } = origin!;
    return { all: signed.filter(isSent), named, loop: null, isOwn };
  }
  const { pieces, whole } = preserved.outline;
  const loop = pieces.slice(whole).flatMap(({ thinking }) => thinking).filter(isSent);
  return { all: [...named.values()], named, loop, isOwn: () => true };
}

/** Returns diagnostics that prevent a request without new content. `silent`: the user does not speak last. */
function nothingNew(chat: Chat, prompt: Prompt, silent: boolean): readonly Diagnostic[] {
  if (prompt.history.length === 0) return [EMPTY];
  // A blocked message is empty because of an error that is already reported.
  return nothingToSend(chat) || (!prompt.blocked && silent) ? [unsaid(chat)] : [];
}

/** Tokens below which no provider caches a prompt. */
const LEAST_CACHEABLE = 1024;

/** Returns what losing the provider's cache costs; null if caching is turned off. */
function cacheFacts(provider: string, name: string, settings: Settings, day: string): CacheFacts | null {
  if (resolveParameters(settings, provider).cacheRetention === "none") return null;
  const model = findModel(provider, name, settings);
  const least = model?.minCacheable ?? LEAST_CACHEABLE;
  return { least, prices: model === null ? null : pricesAt(model, day, 0) };
}

/** Returns what the settings lack for a request to a provider; null if they lack nothing. */
function missing(provider: Provider, settings: Settings): Problem | null {
  if ((settings.model ?? provider.defaultModel) !== null) return provider.obstacle?.(settings) ?? null;
  return {
    code: "model-missing",
    message: `${provider.name} has no default model, and the settings name none.`,
    next:
      `Name one that the server has (flemma models list ${provider.name} --refresh): model: NAME in the settings or the frontmatter, or --model NAME.`,
  };
}

/**
 * Returns who speaks last in the request. Blank parts, and results without a matching call, are not sent and do not
 * count.
 */
function endOf({ history }: Prompt): "person" | "model" | "nothing" {
  const calls = new Set(
    history.flatMap(({ parts }) => parts.flatMap((part) => part.kind === "tool_use" ? [part.id] : [])),
  );
  const says = (part: Part): boolean =>
    part.kind === "tool_result" ? calls.has(part.toolUseId) : part.kind !== "text" || part.text.trim() !== "";
  const last = history.findLast(({ parts }) => parts.some(says));
  if (last === undefined) return "nothing";
  // The message after a call always answers the call, if only to say that there is no result.
  return last.role === "assistant" && !last.parts.some(({ kind }) => kind === "tool_use")
    ? "model"
    : "person";
}

const EMPTY: Diagnostic = {
  code: "no_messages",
  type: "parse",
  severity: "error",
  message: "The document has no @You: or @Assistant: message, so there is nothing to send.",
};

/** Returns a diagnostic that prevents a request which would only repeat what was already answered. */
function unsaid(chat: Chat): Diagnostic {
  const line = chat.turns.findLast(({ role }) => role === "You")?.place.start;
  return {
    code: "nothing_to_send",
    type: "parse",
    severity: "error",
    message: nothingToSend(chat)
      ? "The last @You: message is empty, so there is nothing to send. Write your text below it."
      : "The last @You: message is empty once its templates have run, so there is nothing to send.",
    ...(line === undefined ? {} : { start: line, end: line }),
  };
}
