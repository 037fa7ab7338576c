// Finds the placeholder of a reply that a batch will bring. It is ordinary text of a message, so the grammar has no rule
// for it.

import { fenceClose, fenceOpen, isBlankRange } from "../text/lines.ts";
import type { Chat, Place, Turn } from "../types.ts";

/** The placeholder of a reply that is still to come. */
export interface ReplyPlaceholder {
  /** Id of the batch, as this machine names it. */
  readonly batch: string;
  /** Id of the request in the batch. */
  readonly item: string;
  /** Range from the header to the line end after the closing fence. */
  readonly place: Place;
}

/** A header of a placeholder that has lost its fence, or whose fence has lost the id of the request. */
export interface BrokenPlaceholder {
  /** 1-based line of the header or fence. */
  readonly line: number;
}

/** What a document says about a reply that a batch will bring. */
export type PlaceholderState =
  | { readonly kind: "whole"; readonly placeholder: ReplyPlaceholder }
  | { readonly kind: "broken"; readonly broken: BrokenPlaceholder };

const HEADER = /^\*\*Reply:\*\*[ \t]*`batch ([A-Za-z0-9_-]{1,64})`\s*$/;
const FENCE = /^`{3,}flemma:reply\b(.*)$/;
const ITEM = /(?:^|\s)item=([0-9a-z]{8,64})(?:\s|$)/;
const STATUS = /(?:^|\s)status=batched(?:\s|$)/;

/**
 * Returns the placeholder at the end of a document; null if there is none. It counts only as the last block, outside
 * fences: below it may only be text of the person, perhaps in new messages.
 */
export function findPlaceholder(chat: Chat): PlaceholderState | null {
  let found: PlaceholderState | null = null;
  for (let index = chat.turns.length - 1; index >= 0; index--) {
    const turn = chat.turns[index]!;
    if (turn.role !== "You") return found;
    found = findInTurn(chat, turn) ?? found;
    if (found?.kind === "whole" || turn.results.length > 0) return found;
  }
  return found;
}

/** Returns the placeholder of a document if it is complete; null otherwise. */
export function replyPlaceholder(chat: Chat): ReplyPlaceholder | null {
  const found = findPlaceholder(chat);
  return found?.kind === "whole" ? found.placeholder : null;
}

function findInTurn(chat: Chat, turn: Turn): PlaceholderState | null {
  const last = turn.results.at(-1);
  const first = last === undefined ? turn.place.start + 1 : last.place.end + 1;
  const text = chat.slice(chat.lineStart(first), turn.place.to);
  if (!mayContain(text)) return null;
  let fence = 0;
  let header: { readonly line: number; readonly batch: string } | null = null;
  let found: PlaceholderState | null = null;
  for (let line = first; line <= turn.place.end; line++) {
    const bytes = chat.slice(chat.lineStart(line), chat.lineEnd(line));
    if (fence > 0) {
      if (fenceClose(bytes, 0, bytes.length, fence)) fence = 0;
      continue;
    }
    if (isBlankRange(bytes, 0, bytes.length)) continue;
    fence = fenceOpen(bytes, 0, bytes.length);
    const words = chat.lineText(line);
    const info = fence > 0 ? FENCE.exec(words)?.[1] : undefined;
    if (info !== undefined) {
      found = closedFence(chat, { line, info, ticks: fence, header, last: turn.place.end });
    } else if (header !== null) {
      found ??= { kind: "broken", broken: { line: header.line } };
    }
    header = null;
    const batch = HEADER.exec(words)?.[1];
    if (batch !== undefined) header = { line, batch };
  }
  if (header !== null) found ??= { kind: "broken", broken: { line: header.line } };
  return found;
}

/** Reads the fence of a placeholder. Only the very next line may close it. */
function closedFence(
  chat: Chat,
  { line, info, ticks, header, last }: {
    readonly line: number;
    readonly info: string;
    readonly ticks: number;
    readonly header: { readonly line: number; readonly batch: string } | null;
    readonly last: number;
  },
): PlaceholderState {
  const item = ITEM.exec(info)?.[1];
  const closes = line < last &&
    fenceClose(
      chat.slice(chat.lineStart(line + 1), chat.lineEnd(line + 1)),
      0,
      lengthOf(chat, line + 1),
      ticks,
    );
  if (header === null || item === undefined || !STATUS.test(info) || !closes) {
    return { kind: "broken", broken: { line: header?.line ?? line } };
  }
  const from = chat.lineStart(header.line);
  const to = chat.lineStart(line + 2);
  const place = { from, to, start: header.line, end: line + 1 };
  return { kind: "whole", placeholder: { batch: header.batch, item, place } };
}

function lengthOf(chat: Chat, line: number): number {
  return chat.lineEnd(line) - chat.lineStart(line);
}

const MARK = new TextEncoder().encode("flemma:reply");
const WORD = new TextEncoder().encode("**Reply:**");

/** A fast check that saves reading a long message line by line. */
function mayContain(text: Uint8Array): boolean {
  return includes(text, MARK) || includes(text, WORD);
}

function includes(text: Uint8Array, word: Uint8Array): boolean {
  for (let at = text.indexOf(word[0]!); at >= 0; at = text.indexOf(word[0]!, at + 1)) {
    let length = 1;
    while (length < word.length && text[at + length] === word[length]) length++;
    if (length === word.length) return true;
  }
  return false;
}
