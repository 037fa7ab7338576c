// Template tags in text: `{{ expression }}` and `{% code %}`; Lua strings and comments are skipped to find their ends.

import { closedFences, type Fence } from "../text/fences.ts";
import { OPENS } from "../text/line_kinds.ts";
import { endOfOpened, endOfRaw, isRaw, openedEnd, readTag, type Tag, tagOpener } from "../text/tags.ts";
import type { Text } from "../text/text.ts";
import type { TemplateSegment, TextSegment } from "../types.ts";

const LF = 0x0a;

/** Number of bytes after an opener that are searched first for its closer. */
const WINDOW = 4096;

/**
 * Returns the segments of the bytes `from..to`; empty if the range is empty. A text that begins at an unclosed opener
 * is separate from the text before it. Text between `{% raw %}` and `{% endraw %}` is one segment. With `fences`, an
 * opener that is not closed within its closed code fence turns only the remaining part of that fence into text,
 * because quoted code is mostly in another language.
 */
export function readTemplate(
  text: Text,
  from: number,
  to: number,
  options: { readonly fences?: boolean } = {},
): (TextSegment | TemplateSegment)[] {
  const segments: (TextSegment | TemplateSegment)[] = [];
  const bytes = text.slice(from, to);
  const { length } = bytes;
  const nextTag = tagReader(bytes, options.fences === true);
  const addText = (start: number, end: number) => {
    if (start < end) segments.push(textSegment(text, from + start, from + end));
  };
  let read = 0;
  for (let next = nextTag(0); next !== null; next = nextTag(read)) {
    const { at, tag } = next;
    const raw = tag !== null && isRaw(bytes, tag);
    const closing = raw ? endOfRaw(bytes, tag.end, length) : null;
    addText(read, at);
    if (tag === null || (raw && closing === null)) {
      addText(at, length);
      return segments;
    }
    segments.push(tagSegment(text, from, at, tag, raw));
    read = tag.end;
    if (closing === null) continue;
    if (tag.end < closing.at) {
      segments.push({ ...textSegment(text, from + tag.end, from + closing.at), raw: true });
    }
    segments.push(tagSegment(text, from, closing.at, closing.tag, true));
    read = closing.tag.end;
  }
  addText(read, length);
  return segments;
}

/** An opener, and the tag that it opens. The tag is null if it is not closed. */
interface Opened {
  readonly at: number;
  readonly tag: Tag | null;
}

/**
 * Returns a function that finds the first opener at or after an offset; callers must pass ascending offsets. If an
 * opener in a fence is not closed there, the rest of the fence is skipped. If any other opener is not closed,
 * everything after it is text.
 */
function tagReader(bytes: Uint8Array, fenced: boolean): (from: number) => Opened | null {
  const { length } = bytes;
  let fences: readonly Fence[] | null = fenced ? null : [];
  let index = 0;
  return (from) => {
    for (let at = tagOpener(bytes, from, length); at >= 0;) {
      fences ??= closedFences(bytes);
      while (index < fences.length && fences[index]!.to <= at) index++;
      const next = fences[index];
      const fence = next !== undefined && next.from <= at ? next : null;
      const tag = readTag(bytes, at, fence?.to ?? length);
      if (tag !== null || fence === null) return { at, tag };
      at = tagOpener(bytes, fence.to, length);
    }
    return null;
  };
}

/**
 * Returns the segment of a tag that opens at offset `from + at` of the document. The offsets in `tag` also count from
 * `from`.
 */
function tagSegment(text: Text, from: number, at: number, tag: Tag, raw: boolean): TemplateSegment {
  const first = text.lineOf(from + at);
  const last = text.lineOf(from + tag.end - 1);
  return {
    kind: tag.kind,
    code: text.text(from + tag.inside, from + tag.closer),
    trimBefore: tag.trimBefore,
    trimAfter: tag.trimAfter,
    place: { from: from + at, to: from + tag.end, start: first + 1, end: last + 1 },
    startCol: from + at - text.start(first) + 1,
    endCol: from + tag.end - text.start(last),
    ...(raw ? { raw: true as const } : {}),
  };
}

/**
 * Returns the offset of the first opener in `from..to` that is neither closed nor inside a closed fence; -1 if there is
 * none. This opener and everything after it are text.
 */
export function unclosedTag(text: Text, from: number, to: number): number {
  if (!mayHoldTags(text, from, to)) return -1;
  return mayHoldFences(text, from, to)
    ? unclosedBesideFences(text, from, to)
    : unclosedWithoutFences(text, from, to);
}

function unclosedBesideFences(text: Text, from: number, to: number): number {
  const bytes = text.slice(from, to);
  const nextTag = tagReader(bytes, true);
  for (let next = nextTag(0); next !== null;) {
    const { at, tag } = next;
    const end = tag === null ? -1 : endOfOpened(bytes, tag, bytes.length);
    if (end < 0) return from + at;
    next = nextTag(end);
  }
  return -1;
}

/**
 * Returns the offset of the first opener that is not closed, in a range without fences; -1 if there is none. Skips
 * chunks without tags.
 */
function unclosedWithoutFences(text: Text, from: number, to: number): number {
  let at = from;
  for (let index = text.chunkAt(from); index < text.chunks.length && text.offsets[index]! < to; index++) {
    const { bytes, tags } = text.chunks[index]!;
    if (tags === "none") continue;
    const base = text.offsets[index]!;
    const end = Math.min(bytes.length, to - base);
    if (tags === "closed" && at <= base && end === bytes.length) continue;
    for (;;) {
      const within = tagOpener(bytes, Math.max(0, at - base), end);
      if (within < 0) break;
      const closed = tagEnd(text, base + within, to);
      if (closed < 0) return base + within;
      at = closed;
      if (at >= base + end) break;
    }
  }
  return -1;
}

/** Returns false if no template tag opens in the lines `from..to`. */
export function mayHoldTags(text: Text, from: number, to: number): boolean {
  for (let index = text.chunkAt(from); index < text.chunks.length && text.offsets[index]! < to; index++) {
    if (text.chunks[index]!.tags !== "none") return true;
  }
  return false;
}

function mayHoldFences(text: Text, from: number, to: number): boolean {
  for (let index = text.chunkAt(from); index < text.chunks.length && text.offsets[index]! < to; index++) {
    if ((text.chunks[index]!.kinds & OPENS) !== 0) return true;
  }
  return false;
}

/** Returns the offset after what opens at `at`; -1 if it is not closed before `to`. */
function tagEnd(text: Text, at: number, to: number): number {
  for (let size = WINDOW;; size *= 8) {
    const bytes = text.slice(at, Math.min(to, at + size));
    const end = openedEnd(bytes, 0, bytes.length);
    if (end >= 0) return at + end;
    if (at + size >= to) return -1;
  }
}

/** True if the unclosed opener at `at` is `{% raw %}` without its `{% endraw %}`. */
export function opensRaw(text: Text, at: number, to: number): boolean {
  const bytes = text.slice(at, Math.min(to, at + WINDOW));
  const tag = readTag(bytes, 0, bytes.length);
  return tag !== null && isRaw(bytes, tag);
}

/** Returns a text segment over whole or partial lines. The segment ends on the line that its last line feed begins. */
export function textSegment(text: Text, from: number, to: number): TextSegment {
  const start = text.lineOf(from) + 1;
  // No line begins after the final line feed of the document, but the last line of the segment is counted as if one
  // did.
  const beyond = to === text.length && text.byte(to - 1) === LF ? 2 : 1;
  return {
    kind: "text",
    value: text.text(from, to),
    place: { from, to, start, end: text.lineOf(to) + beyond },
  };
}
