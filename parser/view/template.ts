// Template tags in text: `{{ expression }}` and `{% code %}`, their closers found past Lua strings and comments.

import { closedFences, type Fence } from "../text/fences.ts";
import { OPENS } from "../text/line_kinds.ts";
import { endOfOpened, endOfRaw, isRaw, openedEnd, readTag, type Tag, tagOpener } from "../text/tags.ts";
import type { Text } from "../text/text.ts";
import type { TemplateSegment, TextSegment } from "../types.ts";

const LF = 0x0a;

/** How much of the text behind an opener is looked at first for its closer. */
const WINDOW = 4096;

/**
 * The segments of the bytes `from..to`. Texts next to each other stay apart when the second begins
 * at an opener that is never closed. What `{% raw %}` and `{% endraw %}` enclose is one text. An empty run has no
 * segments. With `fences`, an opener in a closed code fence that is not closed in there makes text of the rest of that fence
 * only: most of what is quoted is of another language.
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

/** An opener, and the tag that it opens; null when nothing closes it. */
interface Opened {
  readonly at: number;
  readonly tag: Tag | null;
}

/**
 * Answers the first opener at or after an offset, asked in order. With one in a fence that nothing closes in there, the rest of
 * that fence is passed over, as behind another one the rest of the text is.
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

/** The segment of a tag that opens `at` bytes behind `from`, from where the tag's own offsets count as well. */
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

/** Offset of the opener in `from..to` that has no closer and stands in no closed fence, or -1. It and the rest of the run are text. */
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

/** Looks into a chunk only where a tag may go on beyond it. */
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

/** False when no template tag opens in the lines `from..to`. */
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

/** Offset behind what opens at `at`, -1 when it is not closed before `to`. */
function tagEnd(text: Text, at: number, to: number): number {
  for (let size = WINDOW;; size *= 8) {
    const bytes = text.slice(at, Math.min(to, at + size));
    const end = openedEnd(bytes, 0, bytes.length);
    if (end >= 0) return at + end;
    if (at + size >= to) return -1;
  }
}

/** Whether what opens at `at` and is not closed is `{% raw %}` without its `{% endraw %}`. */
export function opensRaw(text: Text, at: number, to: number): boolean {
  const bytes = text.slice(at, Math.min(to, at + WINDOW));
  const tag = readTag(bytes, 0, bytes.length);
  return tag !== null && isRaw(bytes, tag);
}

/** A text segment over whole or part lines; it ends on the line that its last line feed leads to. */
export function textSegment(text: Text, from: number, to: number): TextSegment {
  const start = text.lineOf(from) + 1;
  // Behind the document's last line feed no line begins, yet the text says that one does.
  const beyond = to === text.length && text.byte(to - 1) === LF ? 2 : 1;
  return {
    kind: "text",
    value: text.text(from, to),
    place: { from, to, start, end: text.lineOf(to) + beyond },
  };
}
