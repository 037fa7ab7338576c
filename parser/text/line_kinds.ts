// Meanings, as bits, of a line that may begin or end structure.
//
// The bits depend on the bytes of the line alone, so a chunk of the document keeps its marks as long as its bytes are
// unchanged. Only the whole document shows whether the carriage return of a line end belongs to the line. Lines for
// which that matters carry `NEEDS_CRLF`.

import {
  abortMarker,
  isBlankRange,
  jobResultHeader,
  legacyMarker,
  markerRole,
  serverToolClose,
  serverToolTag,
  thinkingClose,
  thinkingTag,
  toolResultHeader,
  toolUseHeader,
} from "./lines.ts";

/** A role marker; its number is the role. */
export const MARKER = 1 << 0;
/** A known role with text on the same line. */
export const LEGACY = 1 << 1;
/** The line begins with backticks. The number of the mark is their count. */
export const TICKS = 1 << 2;
/** The backticks open a fence under the fence rule. */
export const OPENS = 1 << 3;
/** Only whitespace follows the backticks, so they can close a fence. */
export const BARE = 1 << 4;
/** Like `BARE` with exactly three backticks, which can close frontmatter. */
export const BARE_THREE = 1 << 5;
export const USE = 1 << 6;
export const RESULT = 1 << 7;
export const THINKING_OPEN = 1 << 8;
export const THINKING_TAG = 1 << 9;
export const THINKING_CLOSE = 1 << 10;
export const ABORT = 1 << 11;
/** The other bits of the mark apply only if CR LF ends every line of the document. */
export const NEEDS_CRLF = 1 << 12;
/** The header of a background job's result. */
export const JOB = 1 << 13;
/** The opening tag of a tool that the provider ran. */
export const SERVER_TOOL_OPEN = 1 << 14;
export const SERVER_TOOL_CLOSE = 1 << 15;

/** Numbers of markers, by role. */
export const Role = { Other: 0, You: 1, Assistant: 2, System: 3 } as const;

const TICK = 0x60;

/** Factor for the number in a code: a code is the bits of a mark plus its number times this factor. */
const NUMBERS = 1 << 16;

export function bitsOf(code: number): number {
  return code & (NUMBERS - 1);
}

/** Returns the number of a code: backticks, or the role of a marker. */
export function numberOf(code: number): number {
  return Math.floor(code / NUMBERS);
}

/**
 * Returns the code for the meaning of the line `from..to`, which excludes its line end; 0 if the line has no meaning.
 * `feed` is true if a line feed is at `to`.
 */
export function classifyLine(bytes: Uint8Array, from: number, to: number, feed: boolean): number {
  switch (bytes[from]) {
    case TICK:
      return ticksCode(bytes, from, to);
    case 0x40:
      if (markerRole(bytes, from, to) !== null) return MARKER + roleAt(bytes, from + 1) * NUMBERS;
      return legacyMarker(bytes, from, to) === null ? 0 : LEGACY;
    case 0x2a:
      if (bytes[from + 1] !== 0x2a) return 0;
      if (toolUseHeader(bytes, from, to) !== null) return USE;
      if (toolResultHeader(bytes, from, to) !== null) return RESULT;
      return jobResultHeader(bytes, from, to) !== null ? JOB : 0;
    default:
      return feed && to > from && bytes[to - 1] === 0x0d
        ? withCrlf(tagBits(bytes, from, to - 1))
        : tagBits(bytes, from, to);
  }
}

/** Does the work of `fenceOpen` and `bareTicks` of lines.ts in one pass. */
function ticksCode(bytes: Uint8Array, from: number, to: number): number {
  let rest = from + 1;
  while (rest < to && bytes[rest] === TICK) rest++;
  const ticks = rest - from;
  let bits = TICKS;
  if (rest === to || isBlankRange(bytes, rest, to)) bits |= ticks === 3 ? BARE | BARE_THREE : BARE;
  if (ticks >= 3 && ((bits & BARE) !== 0 || !hasTick(bytes, rest, to))) bits |= OPENS;
  return bits + ticks * NUMBERS;
}

function hasTick(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] === TICK) return true;
  return false;
}

/** Returns the role of a marker, given the offset of its word; the colon after the word ends it. */
function roleAt(bytes: Uint8Array, at: number): number {
  return isWord(bytes, at, "You:")
    ? Role.You
    : isWord(bytes, at, "Assistant:")
    ? Role.Assistant
    : isWord(bytes, at, "System:")
    ? Role.System
    : Role.Other;
}

function isWord(bytes: Uint8Array, from: number, word: string): boolean {
  for (let at = 0; at < word.length; at++) if (bytes[from + at] !== word.charCodeAt(at)) return false;
  return true;
}

function tagBits(bytes: Uint8Array, from: number, to: number): number {
  const tag = thinkingTag(bytes, from, to);
  if (tag !== null) return tag.selfClosed ? THINKING_TAG : THINKING_OPEN;
  if (thinkingClose(bytes, from, to)) return THINKING_CLOSE;
  if (serverToolTag(bytes, from, to) !== null) return SERVER_TOOL_OPEN;
  if (serverToolClose(bytes, from, to)) return SERVER_TOOL_CLOSE;
  return abortMarker(bytes, from, to) === null ? 0 : ABORT;
}

function withCrlf(bits: number): number {
  return bits === 0 ? 0 : bits | NEEDS_CRLF;
}
