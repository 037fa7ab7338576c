// Shortens tool output by lines and UTF-8 bytes. Pure.

import type { Limits, Truncation } from "./definition.ts";

/** Default limit of a result in lines. */
export const MAX_LINES = 2000;
/** Default limit of a result in UTF-8 bytes. */
export const MAX_BYTES = 50 * 1024;
/** Default limit of one line in UTF-8 bytes where single lines are cut, its marker included. */
export const MAX_LINE_CHARS = 500;

const LINE_MARKER = " [truncated]";
const LF = 10;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/**
 * First offset at or after `offset` where a UTF-8 character begins. If the bytes are not UTF-8, the result is at most
 * three bytes after `offset`.
 */
export function characterStart(bytes: Uint8Array, offset: number): number {
  let start = Math.max(0, offset);
  const last = Math.min(start + 3, bytes.length);
  while (start < last && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return start;
}

/** Last offset at or before `offset` where a UTF-8 character begins or the bytes end. */
function characterEnd(bytes: Uint8Array, offset: number): number {
  let end = Math.min(offset, bytes.length);
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

/** Offsets just past each line, its LF excluded. */
function lineEnds(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) ends.push(at);
  ends.push(bytes.length);
  return ends;
}

/**
 * Keeps whole lines from the beginning, up to a limit. If the first line alone exceeds the byte limit, nothing remains
 * and `first_line_exceeds_limit` is true.
 */
export function truncateHead(text: string, limits: Limits = {}): Truncation {
  const { maxLines, maxBytes } = withDefaults(limits);
  const bytes = encoder.encode(text);
  const ends = lineEnds(bytes);
  if (ends.length <= maxLines && bytes.length <= maxBytes) return untouched(text, ends.length, bytes.length);
  let kept = 0;
  while (kept < Math.min(ends.length, maxLines) && (ends[kept] ?? 0) <= maxBytes) kept++;
  const end = kept === 0 ? 0 : ends[kept - 1] ?? 0;
  return {
    content: decoder.decode(bytes.subarray(0, end)),
    truncated: true,
    truncated_by: kept >= maxLines ? "lines" : "bytes",
    total_lines: ends.length,
    total_bytes: bytes.length,
    output_lines: kept,
    output_bytes: end,
    last_line_partial: false,
    first_line_exceeds_limit: kept === 0 && maxLines > 0,
  };
}

/**
 * Keeps whole lines from the end, up to a limit. If the last line alone does not fit, only its end remains, from the
 * beginning of a character on, and `last_line_partial` is true.
 */
export function truncateTail(text: string, limits: Limits = {}): Truncation {
  const { maxLines, maxBytes } = withDefaults(limits);
  const bytes = encoder.encode(text);
  const ends = lineEnds(bytes);
  if (ends.length <= maxLines && bytes.length <= maxBytes) return untouched(text, ends.length, bytes.length);
  const lineStart = (line: number): number => line === 0 ? 0 : (ends[line - 1] ?? 0) + 1;
  let kept = 0;
  while (
    kept < Math.min(ends.length, maxLines) &&
    bytes.length - lineStart(ends.length - kept - 1) <= maxBytes
  ) kept++;
  const partial = kept === 0 && maxLines > 0;
  const start = kept > 0
    ? lineStart(ends.length - kept)
    : partial
    ? characterStart(bytes, bytes.length - maxBytes)
    : bytes.length;
  return {
    content: decoder.decode(bytes.subarray(start)),
    truncated: true,
    truncated_by: kept >= maxLines ? "lines" : "bytes",
    total_lines: ends.length,
    total_bytes: bytes.length,
    output_lines: partial ? 1 : kept,
    output_bytes: bytes.length - start,
    last_line_partial: partial,
    first_line_exceeds_limit: false,
  };
}

/** Shortens a line to at most `maxBytes` bytes; a cut line ends in a marker if there is room for it. */
export function truncateLine(line: string, maxBytes: number = MAX_LINE_CHARS): string {
  const bytes = encoder.encode(line);
  if (bytes.length <= maxBytes) return line.toWellFormed();
  const marker = maxBytes > LINE_MARKER.length ? LINE_MARKER : "";
  return decoder.decode(bytes.subarray(0, characterEnd(bytes, maxBytes - marker.length))) + marker;
}

/** Formats a number of bytes, as in `512B`, `12.1KB` or `3.0MB`: base 1024, one decimal from a kilobyte on. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  let size = bytes / 1024;
  for (const unit of ["KB", "MB"]) {
    if (size < 1024) return `${size.toFixed(1)}${unit}`;
    size /= 1024;
  }
  return `${size.toFixed(1)}GB`;
}

function withDefaults(limits: Limits): Required<Limits> {
  return {
    maxLines: Math.max(0, limits.maxLines ?? MAX_LINES),
    maxBytes: Math.max(0, limits.maxBytes ?? MAX_BYTES),
  };
}

function untouched(text: string, lines: number, bytes: number): Truncation {
  return {
    content: text.toWellFormed(),
    truncated: false,
    truncated_by: null,
    total_lines: lines,
    total_bytes: bytes,
    output_lines: lines,
    output_bytes: bytes,
    last_line_partial: false,
    first_line_exceeds_limit: false,
  };
}
