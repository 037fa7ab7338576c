// The turns of a conversation as every provider wants them: each call answered once, in the user turn right behind it.

import { isBlank } from "../../prompt/blank.ts";
import type { Part, Prompt, PromptMessage } from "../../prompt/types.ts";
import { type CallPart, pairResults, type ResultPart } from "./pairing.ts";

/** What a call came to, under the id with which it goes out. */
export interface Answer {
  readonly id: string;
  readonly call: CallPart;
  /** Null for a call that nothing in the document answers. */
  readonly result: ResultPart | null;
}

/** One turn. A user turn begins with the answers that the turn before it asked for. */
export type Turn =
  | {
    readonly role: "assistant";
    readonly parts: readonly Part[];
    readonly ids: ReadonlyMap<CallPart, string>;
  }
  | { readonly role: "user"; readonly answers: readonly Answer[]; readonly parts: readonly Part[] };

/**
 * Arranges a conversation. Results that stand elsewhere are moved behind their call, results without a call are left out,
 * and calls without a result are answered with null. Answers come in the order of their results. `ids` gives each call the
 * id that goes over the wire.
 */
export function arrangeTurns(
  prompt: Prompt,
  ids: { next(id: string): string },
): readonly Turn[] {
  const results = pairResults(prompt.history);
  const places = new Map([...results.keys()].map((call, place) => [call, place]));
  const turns: Turn[] = [];
  let owed: readonly Answer[] = [];
  for (const message of prompt.history) {
    if (message.role === "user") {
      turns.push({ role: "user", answers: owed, parts: withoutResults(message) });
      owed = [];
      continue;
    }
    if (owed.length > 0) turns.push({ role: "user", answers: owed, parts: [] });
    const calls = message.parts.filter((part) => part.kind === "tool_use").map((call) => ({
      call,
      id: ids.next(call.id),
      place: places.get(call) ?? Infinity,
    }));
    turns.push({
      role: "assistant",
      parts: message.parts,
      ids: new Map(calls.map(({ call, id }) => [call, id])),
    });
    owed = calls
      .sort((a, b) => a.place === b.place ? 0 : a.place - b.place)
      .map(({ call, id }) => ({ id, call, result: results.get(call) ?? null }));
  }
  if (owed.length > 0) turns.push({ role: "user", answers: owed, parts: [] });
  return turns;
}

function withoutResults({ parts }: PromptMessage): readonly Part[] {
  return parts.filter(({ kind }) => kind !== "tool_result");
}

/**
 * The parts of a model's message in the order in which they go out: as the document has them when thinking of the
 * provider's own stands before the first text and call, which is how this program writes replies; else the document has
 * the older layout, with thinking at the end, and all of it goes to the front.
 */
export function inReplayOrder(
  parts: readonly Part[],
  isNative: (part: Extract<Part, { kind: "thinking" }>) => boolean,
): readonly Part[] {
  for (const part of parts) {
    if (part.kind === "thinking" && isNative(part)) return parts;
    if (part.kind === "tool_use" || (part.kind === "text" && !isBlank(part.text))) break;
  }
  const isOwn = (part: Part) => part.kind === "thinking" && isNative(part);
  return [...parts.filter(isOwn), ...parts.filter((part) => !isOwn(part))];
}
