// Formats thinking and calls of a reply as document text. Long ones are formatted part by part.

import { ThinkingEscaper } from "../../parser/edits/escape.ts";
import { fenceForParts } from "../../parser/edits/result_block.ts";
import { blankTrimmer } from "../../prompt/blank.ts";
import { LongText, partsOf } from "../../base/text/long_text.ts";

/** The signature of thinking and the provider that issued it. */
export interface Signature {
  readonly provider: string;
  readonly value: string;
}

/**
 * Returns a thinking block with LF; null if it would be empty. A signature covers every byte, including leading and
 * trailing whitespace; if a document cannot hold the content exactly, the content is written without a signature. Long
 * content is changed in place.
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

/** Returns thinking as shown to the user: one text or, if it is long, several texts of whole lines. */
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

/** Returns a thinking block that only its provider can read. */
export function redactedBlock(data: string): string | LongText {
  return blockOf("<thinking redacted>", LongText.of(shown(data)));
}

/** Returns the block of a provider's tool. Its rendering contains no line that could be structure. */
export function serverToolBlock(
  { provider, what, value, rendering }: {
    readonly provider: string;
    readonly what: "blocks" | "citations";
    readonly value: string;
    readonly rendering: string;
  },
): string {
  const lines = rendering === "" ? "" : `${shown(rendering)}\n`;
  return `<server_tool ${provider}:${what}="${value}">\n${lines}</server_tool>\n`;
}

/**
 * Closes a fence that the content left open, because the fence would hide the markers below. For this purpose, an empty
 * fenced block follows the tag. It closes the fence by the usual rule, and fences stay balanced for readers that do not
 * know the tag.
 */
function blockOf(tag: string, content: string | LongText): string | LongText {
  const escaper = new ThinkingEscaper();
  const written = changed(content, (part) => escaper.write(part));
  const end = `${escaper.end()}\n</thinking>\n`;
  const ticks = "`".repeat(escaper.fence);
  return around(`${tag}\n`, written, ticks === "" ? end : `${end}${ticks}text\n${ticks}\n`);
}

/** Returns a call with LF line ends; a long input is converted in place. */
export function callBlock(name: string, id: string, input: string | LongText): string | LongText {
  const fence = fenceForParts(partsOf(input));
  return around(`**Tool Use:** \`${name}\` (\`${id}\`)\n\n${fence}json\n`, input, `\n${fence}\n`);
}

/** Returns a text with line ends other than LF. A long text is changed in place. */
export function replaceLineEnds(text: string | LongText, eol: string): string | LongText {
  return changed(text, (part) => part.replaceAll("\n", eol));
}

/** Applies a function to each part of a text. A long text is changed in place. */
function changed(text: string | LongText, change: (part: string) => string): string | LongText {
  if (typeof text === "string") return change(text);
  text.rewrite(change);
  return text;
}

/** Returns a text with other texts before and after it. */
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

/** Replaces NUL, which no document may contain. */
function shown(text: string): string {
  return text.replaceAll("\0", "\u2400");
}
