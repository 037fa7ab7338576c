// Text of somebody else in a message of the person's: a fenced block in which nothing is read but text.

import { fenceFor } from "../../parser/edits/result_block.ts";
import { fileReferences } from "../../prompt/file_references.ts";

/**
 * The lines of a block that holds a text as it is, wherever it came from. The fence keeps what looks like a message from
 * being one; where templates, references or headers of results would be read, `{% raw %}` keeps them text. A model is
 * shown exactly the text between the two lines of the fence.
 *
 * @param text what is quoted; without a line end at its end it gets one
 * @param name the word behind the opening fence
 * @param options `tags: false` for a document that runs no tags, where `{% raw %}` would be text itself
 */
export function quoted(text: string, name: string, { tags = true } = {}): string {
  const fence = fenceFor(text);
  const plain = !tags || !mayBeRead(text);
  const body = plain ? text : text.replaceAll("endraw", `en${SEAM}draw`).replace(HEADER, `${SEAM}$&`);
  const block = `${fence}${name}\n${body}${body === "" || body.endsWith("\n") ? "" : "\n"}${fence}\n`;
  return plain ? block : `{% raw %}\n${block}{% endraw %}\n`;
}

/** Leaves raw text and goes back to it: vanishes, and what it parts is not read together. */
const SEAM = "{% endraw %}{% raw %}";

/** The beginning of a line that is read as the header of a result, in fences too. */
const HEADER = /^(?=\*\*Tool )/gm;

/** Whether a message would read something of a text: a tag, the path of a file, a result. */
function mayBeRead(text: string): boolean {
  return /\{[{%]|^\*\*Tool /m.test(text) || fileReferences(text).length > 0;
}
