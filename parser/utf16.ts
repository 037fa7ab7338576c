// Places in UTF-16 terms, as editors count them, against the byte offsets that everything else here uses.
//
// Bytes that are no UTF-8 count as the replacement characters that a decoder makes of them. The byte order mark
// is no part of the text. Lines are 0-based here, as in the Language Server Protocol.

import { Document } from "./document.ts";
import type { Edit } from "./edits/edit.ts";
import { Text } from "./text/text.ts";
import type { Chat } from "./types.ts";

const LF = 10;
const CR = 13;

/** A place between two characters of a line. */
export interface Position {
  /** 0-based. */
  readonly line: number;
  /** UTF-16 code units from the beginning of the line. */
  readonly character: number;
}

/** The position of a byte offset; inside a character it is that character's beginning. */
export function positionAt(chat: Chat, offset: number): Position {
  const text = textOf(chat);
  // Behind the last line end an editor counts one more line, on which nothing stands.
  if (offset >= text.length && endsWithLine(chat)) return { line: text.lineCount, character: 0 };
  const line = text.lineOf(offset);
  const from = text.start(line);
  const within = Math.max(0, Math.min(offset, text.end(line)) - from);
  return { line, character: unitsBefore(text.slice(from, text.end(line)), within) };
}

/**
 * The byte offset of a position. A character past the end of its line is the line's end; a line past the last one
 * is the document's end. A carriage return before the line feed is a character for an editor that shows it as one, so
 * the position right behind it is that place.
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

/** The edit that puts `insert` in the place of what stands between two positions. */
export function editBetween(chat: Chat, start: Position, end: Position, insert: string): Edit {
  return { from: offsetAt(chat, start), to: offsetAt(chat, end), insert };
}

/** Code units before a byte offset, counted from the beginning of the document with its line ends. */
export function unitsAt(chat: Chat, offset: number): number {
  const text = textOf(chat);
  const within = text.chunkAt(Math.max(offset, text.origin));
  let units = 0;
  for (let index = 0; index < within; index++) units += text.chunks[index]!.units;
  return units + unitsBefore(text.chunks[within]!.bytes, Math.max(0, offset - text.offsets[within]!));
}

/** The byte offset with so many code units of the document before it; the end when there are fewer. */
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

/** Whether nothing stands behind the last line end. */
export function endsWithLine(chat: Chat): boolean {
  return chat.byteLength > 0 && chat.slice(chat.byteLength - 1, chat.byteLength)[0] === LF;
}

/** Just before the line feed of a line; the document's end on a line without one. */
function beforeFeed(text: Text, line: number): number {
  const next = text.start(line + 1);
  return next > text.start(line) && text.byte(next - 1) === LF ? next - 1 : next;
}

/** Code units of the characters that lie before byte `end` as a whole. */
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

/** Bytes of the characters that lie before code unit `end` as a whole. */
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
 * Bytes of the character at `at`, or of the broken one for which a decoder puts one replacement character. Broken
 * ones have at most three bytes, so four mean a character of two code units.
 */
function characterSize(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0xc2 || lead > 0xf4) return 1;
  const size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // Some second bytes would spell a character the long way round, a surrogate, or one beyond Unicode.
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
