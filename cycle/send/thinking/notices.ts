// Notices about earlier thinking that is no longer used, and about a lost cache.

import type { Refusal } from "../../memory/refusals.ts";
import { failure, type Problem } from "../../../base/problem.ts";
import type {
  DroppedThinking,
  Outline,
  PrefixPiece,
  ProviderError,
  RequestFallback,
  ThinkingPart,
} from "../../../providers/types.ts";
import type { Prices } from "../../../providers/models/types.ts";
import { estimatePieceTokens } from "./preserved.ts";
import type { ThinkingEvaluation } from "./preserved.ts";

/** What losing the provider's cache costs. */
export interface CacheFacts {
  /** Minimum number of tokens of a cached prompt. */
  readonly least: number;
  /** Prices of the model; null if no price is known. */
  readonly prices: Prices | null;
}

/** Returns notices about earlier thinking before a request: what was lost, and what the model cannot read. */
export function earlierNotices(
  { outline, evaluation }: { readonly outline: Outline; readonly evaluation: ThinkingEvaluation },
  model: string,
  cache: CacheFacts | null,
): readonly string[] {
  const change = changeNotice(outline, evaluation, cache);
  const unread = evaluation.unread.map(({ part }) => ({ part, why: "model" as const }));
  return [...(change === null ? [] : [change]), ...droppedNotices(unread, model)];
}

/** Returns one sentence about what a change of earlier text costs; null if it costs nothing. */
export function changeNotice(
  outline: Outline,
  evaluation: ThinkingEvaluation,
  cache: CacheFacts | null,
): string | null {
  const { lost, changed } = evaluation;
  const cost = changed === null || cache === null ? null : cacheLoss(outline.pieces.slice(changed), cache);
  if (lost.length > 0) {
    const block = blocks(lost.length);
    const tail = cost === null ? "" : `; ${cost}`;
    return `${block} no longer ${lost.length === 1 ? "matches" : "match"} the text before (first change: ` +
      `${firstChange(outline, evaluation)}), so requests omit ${
        lost.length === 1 ? "it" : "them"
      } from now on${tail}.`;
  }
  if (changed === null || cost === null) return null;
  return `Earlier text has changed (first change: ${placeOf(outline.pieces[changed]!)}); ${cost}.`;
}

/** Returns why nothing is sent, if the settings do not allow losing thinking. */
export function mismatchProblem(outline: Outline, evaluation: ThinkingEvaluation): Problem {
  const { lost } = evaluation;
  return failure(
    "thinking-mismatch",
    `${blocks(lost.length)} no longer ${
      lost.length === 1 ? "matches" : "match"
    } the text before (first change: ` +
      `${firstChange(outline, evaluation)}), and parameters.anthropic.binding is error.`,
    "Undo the change, or send without that thinking: set parameters.anthropic.binding to drop.",
  ).problem;
}

/** Returns sentences about ignored thinking, one for each reason for which the provider ignored some. */
export function droppedNotices(
  dropped: readonly { readonly part: ThinkingPart; readonly why: DroppedThinking["why"] }[],
  model: string,
): readonly string[] {
  const of = (why: DroppedThinking["why"], words: (count: string, place: string) => string) => {
    const parts = dropped.filter((one) => one.why === why).map(({ part }) => part);
    if (parts.length === 0) return [];
    return [words(blocks(parts.length), firstLine(parts))];
  };
  return [
    ...of(
      "prefix",
      (count, place) =>
        `The provider ignored ${count}${place}, because the text before has changed; requests omit this thinking from now on.`,
    ),
    ...of(
      "model",
      (count, place) => `${model} cannot read ${count}${place}; this thinking stays in the file.`,
    ),
    ...of(
      "account",
      (count, place) =>
        `The provider ignored ${count}${place} from another account; this thinking stays in the file.`,
    ),
    ...of(
      "turn",
      (count, place) =>
        `${model} uses only the thinking of the current turn, and ignored ${count}${place}; this thinking stays in the file.`,
    ),
    ...of(
      "other",
      (count, place) => `The provider ignored ${count}${place}; this thinking stays in the file.`,
    ),
  ];
}

/** Returns a sentence about thinking that a request omits because another key made it; none if there is none. */
export function otherKeyNotice(parts: readonly ThinkingPart[], provider: string): readonly string[] {
  if (parts.length === 0) return [];
  const [them, were] = parts.length === 1 ? ["it", "was"] : ["them", "were"];
  const place = firstLine(parts);
  return [
    `${provider} accepts ${blocks(parts.length)}${place} only with the key or project that ${
      parts.length === 1 ? "it" : "they"
    } ${were} made with, so requests with this key omit ${them}.`,
  ];
}

/**
 * Returns a sentence which says that a request is repeated, and what is left out of it. `thinking` is the thinking that
 * is left out.
 */
export function describeFallback(
  fallback: RequestFallback,
  error: ProviderError,
  provider: string,
  thinking: readonly ThinkingPart[] = [],
): string {
  const what = fallback === "some-thinking"
    ? `${blocks(thinking.length)}${firstLine(thinking)}, which later requests omit too`
    : omitted(fallback);
  return `${provider} refused the request (${error.message}); flemma repeats it without ${what}.`;
}

function firstLine([first]: readonly ThinkingPart[]): string {
  return first?.line === undefined ? "" : ` (first at line ${first.line})`;
}

/** Returns a sentence about a part that requests omit because of an earlier refusal. */
export function describeRemembered({ rule, day, model }: Refusal, provider: string): string {
  return `Requests for ${model} go without ${omitted(rule)}, which ${provider} refused on ${day}.`;
}

function omitted(fallback: RequestFallback): string {
  return isToolFallback(fallback) ? `the ${fallback}, whose schema it refuses` : OMITTED[fallback];
}

function isToolFallback(fallback: RequestFallback): fallback is `tool ${string}` {
  return fallback.startsWith("tool ");
}

/** What each fallback leaves out. */
const OMITTED: Readonly<Record<Exclude<RequestFallback, `tool ${string}`>, string>> = {
  "earlier-thinking": "the thinking of earlier replies, which later requests omit too",
  "some-thinking": "some blocks of earlier thinking",
  "reasoning-field": "the reasoning of earlier replies",
  "item-ids": "the ids of reasoning that the document contains twice",
  "binding": "the setting for thinking that no longer matches",
  "sampling": "the temperature",
  "system-role": "a system message, whose text now precedes the first @You: message",
  "long-ids": "call ids that it does not accept",
  "result-files": "the images and documents in results, for each of which the model gets one line",
  "bare-calls": "calls without reasoning",
  "thinking": "the thinking parameter",
  "summary": "the request for a thinking summary",
  "retention": "the cache retention",
  "reply-limit": "the reply limit (max_tokens)",
  "token-counts": "the request for token counts",
  "store": "the request to store nothing",
  "server-tools": "the tools that it runs itself",
  "server-blocks":
    "the blocks of its own tools in earlier replies, whose visible lines the model gets as text",
};

function blocks(count: number): string {
  return count === 1 ? "1 block of earlier thinking" : `${count} blocks of earlier thinking`;
}

function firstChange({ pieces }: Outline, { changed, lost }: ThinkingEvaluation): string {
  if (changed !== null) return placeOf(pieces[changed]!);
  const line = lost[0]?.line;
  return line === undefined ? "the thinking itself" : `the thinking at line ${line}`;
}

function placeOf({ what, line }: PrefixPiece): string {
  const at = line === null ? "" : ` at line ${line}`;
  switch (what) {
    case "system":
      return line === null ? "the removed system prompt" : `the system prompt${at}`;
    case "tools":
      return "the offered tools";
    case "user":
      return `the @You: message${at}`;
    case "assistant":
      return `the @Assistant: message${at}`;
  }
}

/** Returns the cost of reading everything again from one piece on; null if the text was too short to be cached. */
function cacheLoss(pieces: readonly PrefixPiece[], { least, prices }: CacheFacts): string | null {
  const tokens = estimatePieceTokens(pieces);
  if (tokens < least) return null;
  const { cache_read: read, cache_write: written } = prices ?? {};
  const more = prices === null || read === undefined
    ? null
    : tokens * ((written ?? prices.input) - read) / 1e6;
  const dollars = more === null ? "" : more < 0.005 ? " (less than a cent)" : ` (about $${more.toFixed(2)})`;
  const rounded = tokens < 1000 ? tokens : Math.round(tokens / 100) * 100;
  return `about ${rounded.toLocaleString("en-US")} tokens after it are no longer cached${dollars}`;
}
