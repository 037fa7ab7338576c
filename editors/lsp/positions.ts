// Converts between the client's positions, in bytes or UTF-16 code units, and the parser's byte offsets.

import type { Position, Range } from "vscode-languageserver-types";
import type { Chat, Place } from "../../parser/types.ts";
import { endsWithLine, offsetAt, positionAt } from "../../parser/utf16.ts";

const LF = 10;

/** The unit of a position within its line. */
export type Encoding = "utf-8" | "utf-16";

/** One document, and the unit in which its client counts. */
export interface Counted {
  readonly chat: Chat;
  readonly encoding: Encoding;
}

/**
 * Returns the position of a byte offset. Inside a character, it is the position of the character's beginning. A byte
 * order mark that an editor leaves in the text counts as a character of its first line.
 */
export function toPosition(counted: Counted, offset: number): Position {
  const { line, character } = positionOf(counted, offset);
  const mark = line === 0 ? markOf(counted) : NO_MARK;
  return { line, character: offset < mark.bytes ? 0 : character + mark.counted };
}

/**
 * Returns the byte offset of a position. A position past the end of its line gives the line's end, and one past the
 * last line the document's end.
 */
export function toOffset(counted: Counted, { line, character }: Position): number {
  const mark = line === 0 ? markOf(counted) : NO_MARK;
  if (character < mark.counted) return 0;
  return offsetOf(counted, { line, character: character - mark.counted });
}

/** A byte order mark: its length in bytes, and in the client's units. */
interface Mark {
  readonly bytes: number;
  readonly counted: number;
}

const NO_MARK: Mark = { bytes: 0, counted: 0 };

function markOf({ chat, encoding }: Counted): Mark {
  const bytes = chat.lineStart(1);
  return { bytes, counted: encoding === "utf-8" ? bytes : Math.min(bytes, 1) };
}

function positionOf({ chat, encoding }: Counted, offset: number): Position {
  if (encoding === "utf-16") return positionAt(chat, offset);
  if (offset >= chat.byteLength && endsWithLine(chat)) return { line: chat.lineCount, character: 0 };
  const number = chat.lineAt(offset);
  const start = chat.lineStart(number);
  const within = Math.max(start, Math.min(offset, chat.lineEnd(number)));
  return { line: number - 1, character: characterStart(chat, start, within) - start };
}

function offsetOf({ chat, encoding }: Counted, { line, character }: Position): number {
  if (encoding === "utf-16") return offsetAt(chat, { line, character });
  if (line >= chat.lineCount) return chat.byteLength;
  const start = chat.lineStart(line + 1);
  const isPast = start + character > beforeFeed(chat, line + 1);
  return isPast ? chat.lineEnd(line + 1) : characterStart(chat, start, start + character);
}

export function toRange(counted: Counted, { from, to }: Pick<Place, "from" | "to">): Range {
  return { start: toPosition(counted, from), end: toPosition(counted, to) };
}

/** Returns the range of whole lines without the last line end; lines are 1-based and inclusive. */
export function linesRange(counted: Counted, first: number, last: number): Range {
  const { chat } = counted;
  return toRange(counted, { from: chat.lineStart(first), to: chat.lineEnd(Math.min(last, chat.lineCount)) });
}

/** Returns the offset before the line feed of a line, after a possible carriage return. */
function beforeFeed(chat: Chat, line: number): number {
  const next = chat.lineStart(line + 1);
  return next > chat.lineStart(line) && chat.slice(next - 1, next)[0] === LF ? next - 1 : next;
}

/** Returns the beginning of the character that contains a byte offset. */
function characterStart(chat: Chat, start: number, offset: number): number {
  const from = Math.max(start, offset - 3);
  const bytes = chat.slice(from, offset + 1);
  let at = offset - from;
  while (at > 0 && bytes[at] !== undefined && (bytes[at]! & 0xc0) === 0x80) at--;
  return from + at;
}
