// Quotes foreign text in a person's message as a fenced block in which everything stays text.

import { fenceFor } from "../../parser/edits/result_block.ts";
import { fileReferences } from "../../prompt/file_references.ts";

/**
 * Quotes a text of any origin as a block. The fence keeps lines in the text from beginning a message. `{% raw %}`
 * keeps templates, references and headers of results plain text. A model sees exactly the text between the two fence
 * lines.
 *
 * @param text the text to quote; a missing line end is added
 * @param name the info string of the opening fence
 * @param options `tags: false` for a document that evaluates no tags, where `{% raw %}` would itself be text
 */
export function quoteText(text: string, name: string, { tags = true } = {}): string {
  const fence = fenceFor(text);
  const plain = !tags || !mayBeRead(text);
  const body = plain ? text : inRaw(text);
  const block = `${fence}${name}\n${body}${body === "" || body.endsWith("\n") ? "" : "\n"}${fence}\n`;
  return plain ? block : `{% raw %}\n${block}{% endraw %}\n`;
}

/** Returns a text in which no tag and no reference takes effect, without a fence. */
export function literalText(text: string, { tags = true } = {}): string {
  return !tags || !mayBeRead(text) ? text : `{% raw %}${inRaw(text)}{% endraw %}`;
}

function inRaw(text: string): string {
  return text.replaceAll("endraw", `en${SEAM}draw`).replace(HEADER, `${SEAM}$&`);
}

/** Quotes a line with foreign words in it, without line ends. Tags and references in it stay plain text. */
export function quoteLine(line: string): string {
  return mayBeRead(line) ? `{% raw %}${line.replaceAll("endraw", `en${SEAM}draw`)}{% endraw %}` : line;
}

/**
 * Closes a raw section and opens another one. These tags produce no text, but they keep the text before them and the
 * text after them from being read together.
 */
const SEAM = "{% endraw %}{% raw %}";

/** Returns the text that `quoteText` or `quoteLine` put into a raw section. */
export function unquoted(raw: string): string {
  return raw.replaceAll(SEAM, "");
}

/** Matches the beginning of a line that is read as the header of a result, even inside a fence. */
const HEADER = /^(?=\*\*(?:Tool|Job) )/gm;

/** True if a message would interpret part of a text, such as a tag, a file reference or a result. */
function mayBeRead(text: string): boolean {
  return /\{[{%]|^\*\*(?:Tool|Job) /m.test(text) || fileReferences(text).length > 0;
}
