// Semantic tokens for editors without a syntax file: markers, headers, statuses, thinking, tags.

import type { SemanticTokens, SemanticTokensDelta } from "vscode-languageserver-types";
import type { Chat, Segment } from "../../../parser/types.ts";
import type { OpenDocument } from "../document.ts";
import { type Counted, toPosition } from "../positions.ts";

/** Token types that every editor has colors for. */
const TYPES = ["keyword", "function", "comment", "macro", "enumMember"] as const;

export const LEGEND = { tokenTypes: [...TYPES], tokenModifiers: [] };

type Type = (typeof TYPES)[number];

/** Remembers the last tokens of each document, so that an answer can contain only the changes. */
export class Tokens {
  readonly #last = new Map<string, { readonly id: string; readonly data: number[] }>();
  #count = 0;

  full(document: OpenDocument): SemanticTokens {
    const data = tokensIn(document.counted, 0, Infinity);
    const resultId = String(++this.#count);
    this.#last.set(document.uri, { id: resultId, data });
    return { resultId, data };
  }

  /** Returns the changes since the answer `previous`; all tokens if that answer is not remembered. */
  delta(document: OpenDocument, previous: unknown): SemanticTokens | SemanticTokensDelta {
    const before = this.#last.get(document.uri);
    const { resultId, data } = this.full(document);
    if (before === undefined || before.id !== previous) return { resultId, data };
    let start = 0;
    const least = Math.min(before.data.length, data.length);
    while (start < least && before.data[start] === data[start]) start++;
    let end = 0;
    while (end < least - start && before.data.at(-1 - end) === data.at(-1 - end)) end++;
    const deleteCount = before.data.length - start - end;
    const changed = data.slice(start, data.length - end);
    return {
      resultId,
      edits: deleteCount + changed.length === 0 ? [] : [{ start, deleteCount, data: changed }],
    };
  }

  /** Returns the tokens from the first line through the last, 0-based. */
  range(document: OpenDocument, first: number, last: number): SemanticTokens {
    return { data: tokensIn(document.counted, first, last) };
  }

  forget(uri: string): void {
    this.#last.delete(uri);
  }
}

/** Returns five numbers per token: lines and characters from the token before, length, type, no modifiers. */
function tokensIn(counted: Counted, first: number, last: number): number[] {
  const { chat } = counted;
  const data: number[] = [];
  let [line, character] = [0, 0];
  const add = (from: number, to: number, type: Type) => {
    const [start, end] = [toPosition(counted, from), toPosition(counted, to)];
    if (start.line < first || start.line > last || end.character <= start.character) return;
    const deltaLine = start.line - line;
    data.push(
      deltaLine,
      deltaLine === 0 ? start.character - character : start.character,
      end.character - start.character,
      TYPES.indexOf(type),
      0,
    );
    [line, character] = [start.line, start.character];
  };
  for (const turn of chat.turns) {
    const { start, end } = turn.place;
    if (end - 1 < first) continue;
    if (start - 1 > last) break;
    addLine(chat, start, "keyword", add);
    for (const segment of turn.segments) addSegment(chat, segment, add);
  }
  return data;
}

type Add = (from: number, to: number, type: Type) => void;

function addSegment(chat: Chat, segment: Segment, add: Add): void {
  switch (segment.kind) {
    case "thinking":
    case "server_tool":
    case "aborted":
      for (let line = segment.place.start; line <= segment.place.end; line++) {
        addLine(chat, line, "comment", add);
      }
      return;
    case "tool_use":
      return addLine(chat, segment.place.start, "function", add);
    case "tool_result":
      addLine(chat, segment.header.start, "function", add);
      if (segment.status !== null && segment.opener.start !== segment.header.start) {
        addLine(chat, segment.opener.start, "enumMember", add);
      }
      return;
    case "expression":
    case "code":
      for (let line = segment.place.start; line <= segment.place.end; line++) {
        add(
          Math.max(segment.place.from, chat.lineStart(line)),
          Math.min(segment.place.to, chat.lineEnd(line)),
          "macro",
        );
      }
      return;
    case "text":
      return;
  }
}

function addLine(chat: Chat, line: number, type: Type, add: Add): void {
  add(chat.lineStart(line), chat.lineEnd(line), type);
}
