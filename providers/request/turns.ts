// The order that every provider requires: each call is answered once, in the user turn immediately after it.

import { isBlank } from "../../prompt/blank.ts";
import type { Part, Prompt, PromptMessage } from "../../prompt/types.ts";
import type { ThinkingPart } from "../types.ts";
import { type CallPart, pairResults, type ResultPart } from "./pairing.ts";

/** Result of a call, under the id that is sent. */
export interface CallAnswer {
  readonly id: string;
  readonly call: CallPart;
  /** Result of the call; null if the document contains none. */
  readonly result: ResultPart | null;
}

/** One turn. A user turn begins with the answers to the calls of the turn before. */
export type RequestTurn =
  | {
    readonly role: "assistant";
    readonly parts: readonly Part[];
    readonly ids: ReadonlyMap<CallPart, string>;
    /** 1-based line of the document on which the turn's message begins; null if unknown. */
    readonly line: number | null;
  }
  | {
    readonly role: "user";
    readonly answers: readonly CallAnswer[];
    readonly parts: readonly Part[];
    readonly line: number | null;
  };

/**
 * Arranges a conversation. Results are moved right after their call, results without a call are dropped, and calls
 * without a result are answered with null. Answers keep the order of their results. `ids` returns the id that is sent
 * for each call.
 */
export function arrangeTurns(
  prompt: Prompt,
  ids: { next(id: string): string },
): readonly RequestTurn[] {
  const results = pairResults(prompt.history);
  const places = new Map([...results.keys()].map((call, place) => [call, place]));
  const turns: RequestTurn[] = [];
  let owed: readonly CallAnswer[] = [];
  let line: number | null = null;
  for (const message of prompt.history) {
    if (message.role === "user") {
      line = message.line ?? null;
      turns.push({ role: "user", answers: owed, parts: withoutResults(message), line });
      owed = [];
      continue;
    }
    if (owed.length > 0) turns.push({ role: "user", answers: owed, parts: [], line });
    line = message.line ?? null;
    const calls = message.parts.filter((part) => part.kind === "tool_use").map((call) => ({
      call,
      id: ids.next(call.id),
      place: places.get(call) ?? Infinity,
    }));
    turns.push({
      role: "assistant",
      parts: message.parts,
      ids: new Map(calls.map(({ call, id }) => [call, id])),
      line,
    });
    owed = calls
      .sort((a, b) => a.place === b.place ? 0 : a.place - b.place)
      .map(({ call, id }) => ({ id, call, result: results.get(call) ?? null }));
  }
  if (owed.length > 0) turns.push({ role: "user", answers: owed, parts: [], line });
  return turns;
}

function withoutResults({ parts }: PromptMessage): readonly Part[] {
  return parts.filter(({ kind }) => kind !== "tool_result");
}

/**
 * True if all of a provider's own thinking comes after the texts and calls of a message, as in an older document
 * format. In the current format, thinking is in the document at the place where it arrived, and is sent back in that
 * order.
 */
export function thinkingStandsLast(
  parts: readonly Part[],
  isOwn: (part: ThinkingPart) => boolean,
): boolean {
  const isStated = (part: Part) => part.kind === "tool_use" || (part.kind === "text" && !isBlank(part.text));
  // The older format had no tools of providers.
  if (parts.some(({ kind }) => kind === "server_tool")) return false;
  const first = parts.findIndex((part) => part.kind === "thinking" && isOwn(part));
  return first > parts.findLastIndex(isStated) && parts.some(isStated);
}

/** Returns the parts of a model's message in sending order; moves thinking of the older format to the front. */
export function sortForReplay(
  parts: readonly Part[],
  isOwn: (part: ThinkingPart) => boolean,
): readonly Part[] {
  if (!thinkingStandsLast(parts, isOwn)) return parts;
  const isFirst = (part: Part) => part.kind === "thinking" && isOwn(part);
  return [...parts.filter(isFirst), ...parts.filter((part) => !isFirst(part))];
}
