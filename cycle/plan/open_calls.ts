// Sorts the open calls of a document by what they wait for, using the document alone.

import { isPlaceholder } from "../../parser/edits/result_block.ts";
import type { Call, Chat, Segment } from "../../parser/types.ts";

/** Returns the effective calls in document order. If several calls have the same id, only the last one is effective. */
export function liveCalls(chat: Chat): Call[] {
  return chat.calls.filter((call) => chat.call(call.id)?.place.from === call.place.from);
}

/** The unfinished calls of a document, grouped by what they wait for. */
export interface OpenCallSummary {
  /** Calls without a result block. */
  readonly open: readonly string[];
  /** Empty approved blocks. */
  readonly approved: readonly string[];
  /** Approved blocks with a body. */
  readonly protected: readonly string[];
  /** Denied, rejected and aborted blocks. */
  readonly resolvable: readonly string[];
  /** Empty pending blocks. */
  readonly pending: readonly string[];
}

export function summarizeOpenCalls(chat: Chat): OpenCallSummary {
  const open: string[] = [];
  const approved: string[] = [];
  const resolvable: string[] = [];
  const pending: string[] = [];
  const guarded: string[] = [];
  for (const { id } of liveCalls(chat)) {
    const result = chat.result(id);
    if (result === undefined) open.push(id);
    else if (result.status === "approved") (result.content === "" ? approved : guarded).push(id);
    else if (result.status === "pending" && result.content === "") pending.push(id);
    else if (isPlaceholder(result) && result.status !== "pending") resolvable.push(id);
  }
  return { open, approved, resolvable, pending, protected: guarded };
}

/** Returns the first line among the blocks of these calls; null if there is none. */
export function firstLine(chat: Chat, ids: readonly string[]): number | null {
  const lines = ids.flatMap((id) => chat.result(id)?.header.start ?? chat.call(id)?.place.start ?? []);
  return lines.length === 0 ? null : Math.min(...lines);
}

/**
 * True if the model spoke last and calls no tool. A request would then end in the model's own turn, which most models
 * reject. Messages that are never sent, and a reply that is still empty, do not count.
 */
export function lastWordIsModels(chat: Chat): boolean {
  const last = chat.turns.findLast(({ role, segments }) =>
    role === "You" || (role === "Assistant" && !segments.every(isBlankText))
  );
  return last?.role === "Assistant" && last.calls.length === 0;
}

/** True if the last message is the user's and still empty, so that a request would add nothing new. */
export function nothingToSend(chat: Chat): boolean {
  const last = chat.turns.at(-1);
  return last?.role === "You" && last.segments.every(isBlankText);
}

function isBlankText(segment: Segment): boolean {
  return segment.kind === "text" && segment.value.trim() === "";
}
