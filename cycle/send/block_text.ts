// Blocks of a reply as the text of a document, thinking and calls: long ones are made part by part.

import { ThinkingEscaper } from "../../parser/edits/escape.ts";
import { fenceForParts } from "../../parser/edits/result_block.ts";
import { blankTrimmer } from "../../prompt/blank.ts";
import { LongText, partsOf } from "../../base/text/long_text.ts";

/** Who made thinking, and what vouches for it. */
export interface Signature {
  readonly provider: string;
  readonly value: string;
}

/**
 * A block of thinking, with LF; null for one that says nothing. A signature vouches for every byte, blanks at the ends too;
 * what no document can hold exactly goes without one. Long content becomes the block.
 */
export function thinkingBlock(content: string | LongText, signature?: Signature): string | LongText | null {
  if (signature !== undefined && !holdsNul(content)) {
    const tag = `<thinking ${signature.provider}:signature="${signature.value}">`;
    return content.length === 0 ? `${tag}\n</thinking>\n` : blockOf(tag, content);
  }
  const trim = blankTrimmer();
  const trimmed = changed(content, (part) => shown(trim(part)));
  return trimmed.length === 0 ? null : blockOf("<thinking>", trimmed);
}

/** Thinking as shown to a person: in one text or, if it is long, in several of whole lines. */
export function* shownThinking(content: string | LongText): Generator<string> {
  const trim = blankTrimmer();
  let open = "";
  for (const given of partsOf(content)) {
    const part = trim(given);
    const end = typeof content === "string" ? part.length : part.lastIndexOf("\n") + 1;
    if (end > 0) yield open + part.slice(0, end);
    open = end > 0 ? part.slice(end) : open + part;
  }
  if (open !== "") yield open;
}

/** A block of thinking that only its provider can read. */
export function redactedBlock(data: string): string | LongText {
  return blockOf("<thinking redacted>", LongText.of(shown(data)));
}

/**
 * A fence left open by the content would hide the markers below. It is closed by an empty block of its own
 * behind the tag: that closes it for the fence rule and is balanced for readers that look at the text alone.
 */
function blockOf(tag: string, content: string | LongText): string | LongText {
  const escaper = new ThinkingEscaper();
  const written = changed(content, (part) => escaper.write(part));
  const end = `${escaper.end()}\n</thinking>\n`;
  const ticks = "`".repeat(escaper.fence);
  return around(`${tag}\n`, written, ticks === "" ? end : `${end}${ticks}text\n${ticks}\n`);
}

/** A call, with LF; long input becomes its text. */
export function callBlock(name: string, id: string, input: string | LongText): string | LongText {
  const fence = fenceForParts(partsOf(input));
  return around(`**Tool Use:** \`${name}\` (\`${id}\`)\n\n${fence}json\n`, input, `\n${fence}\n`);
}

/** A text with other line ends than LF; a long one is changed. */
export function withLineEnds(text: string | LongText, eol: string): string | LongText {
  return changed(text, (part) => part.replaceAll("\n", eol));
}

/** A text each part of which was changed: a long one is the same, and has become another. */
function changed(text: string | LongText, change: (part: string) => string): string | LongText {
  if (typeof text === "string") return change(text);
  text.rewrite(change);
  return text;
}

/** A text with others before and behind it. */
function around(before: string, text: string | LongText, behind: string): string | LongText {
  if (typeof text === "string") return before + text + behind;
  text.prepend(before);
  text.add(behind);
  return text;
}

function holdsNul(content: string | LongText): boolean {
  for (const part of partsOf(content)) if (part.includes("\0")) return true;
  return false;
}

/** What is written for NUL, which no document holds. */
function shown(text: string): string {
  return text.replaceAll("\0", "\u2400");
}
