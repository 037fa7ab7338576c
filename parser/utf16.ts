// Converts between UTF-16 positions, which editors use, and byte offsets, which all other code uses.
//
// Bytes that are not UTF-8 count as the replacement characters that a decoder produces for them. The byte order mark is
// not part of the text. Lines are 0-based here, as in the Language Server Protocol.

import { Document } from "./document.ts";
import type { Edit } from "./edits/edit.ts";
import { Text } from "./text/text.ts";
import type { Chat } from "./types.ts";

const LF = 10;
const CR = 13;

/** A position between two characters of a line. */
export interface Position {
  /** Line, 0-based. */
  readonly line: number;
  /** UTF-16 code units from the beginning of the line. */
  readonly character: number;
}

/** Returns the position of a byte offset; an offset inside a character gives the beginning of that character. */
export function positionAt(chat: Chat, offset: number): Position {
  const text = textOf(chat);
  // Editors count an empty line after the last line end.
  if (offset >= text.length && endsWithLine(chat)) return { line: text.lineCount, character: 0 };
  const line = text.lineOf(offset);
  const from = text.start(line);
  const within = Math.max(0, Math.min(offset, text.end(line)) - from);
  return { line, character: unitsBefore(text.slice(from, text.end(line)), within) };
}

/**
 * Returns the byte offset of a position. If the character is past the end of its line, returns the end of the line. If
 * the line is past the last line, returns the end of the document. Some editors show a carriage return before the line
 * feed as a character, so the position right after that character is valid.
 */
export function offsetAt(chat: Chat, { line, character }: Position): number {
  const text = textOf(chat);
  if (line >= text.lineCount) return text.length;
  const from = text.start(line);
  const content = text.slice(from, beforeFeed(text, line));
  const within = bytesBefore(content, character);
  const isPast = within === content.length && unitsBefore(content, within) < character;
  return isPast && content.at(-1) === CR ? from + within - 1 : from + within;
}

/** Returns the edit that replaces the text between two positions with `insert`. */
export function editBetween(chat: Chat, start: Position, end: Position, insert: string): Edit {
  return { from: offsetAt(chat, start), to: offsetAt(chat, end), insert };
}

/**
 * Returns the number of code units before a byte offset, counted from the beginning of the document, including line
 * ends.
 */
export function unitsAt(chat: Chat, offset: number): number {
  const text = textOf(chat);
  const within = text.chunkAt(Math.max(offset, text.origin));
  let units = 0;
  for (let index = 0; index < within; index++) units += text.chunks[index]!.units;
  return units + unitsBefore(text.chunks[within]!.bytes, Math.max(0, offset - text.offsets[within]!));
}

/** Returns the byte offset with `units` code units of the document before it; the end if there are fewer. */
export function offsetAtUnits(chat: Chat, units: number): number {
  const text = textOf(chat);
  let left = units;
  for (let index = 0; index < text.chunks.length; index++) {
    const chunk = text.chunks[index]!;
    if (left < chunk.units) return text.offsets[index]! + bytesBefore(chunk.bytes, left);
    left -= chunk.units;
  }
  return text.length;
}

function textOf(chat: Chat): Text {
  return chat instanceof Document ? chat.content : Text.of(chat.bytes);
}

/** True if the document ends with a line end. */
export function endsWithLine(chat: Chat): boolean {
  return chat.byteLength > 0 && chat.slice(chat.byteLength - 1, chat.byteLength)[0] === LF;
}

/** Returns the offset directly before the line feed of a line; the document's end for a line without one. */
function beforeFeed(text: Text, line: number): number {
  const next = text.start(line + 1);
  return next > text.start(line) && text.byte(next - 1) === LF ? next - 1 : next;
}

/** Returns the number of code units of the characters that end at or before byte `end`. */
function unitsBefore(bytes: Uint8Array, end: number): number {
  let units = 0;
  for (let at = 0; at < end;) {
    const size = characterSize(bytes, at);
    if (at + size > end) break;
    units += size === 4 ? 2 : 1;
    at += size;
  }
  return units;
}

/** Returns the number of bytes of the characters that end at or before code unit `end`. */
function bytesBefore(bytes: Uint8Array, end: number): number {
  let at = 0;
  for (let units = 0; at < bytes.length;) {
    const size = characterSize(bytes, at);
    units += size === 4 ? 2 : 1;
    if (units > end) break;
    at += size;
  }
  return at;
}

/**
 * Returns the number of bytes of the character at `at`, or of the invalid sequence that a decoder replaces with one
 * replacement character. Invalid sequences have at most three bytes, so four mean a surrogate pair.
 */
function characterSize(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0xc2 || lead > 0xf4) return 1;
  const size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // These limits for the second byte exclude overlong encodings, surrogates, and code points beyond Unicode.
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let index = 1; index < size; index++) {
    const byte = bytes[at + index];
    const fits = byte !== undefined &&
      (index === 1 ? byte >= least && byte <= most : byte >= 0x80 && byte <= 0xbf);
    if (!fits) return index;
  }
  return size;
}
