// What a person asks as the text of a message: their words, text from a pipe, paths as seen from another folder.

import { failure, type Outcome, success } from "../../base/problem.ts";
import { applyEdits, type Edit } from "../../parser/edits/edit.ts";
import { addLine } from "../../parser/edits/turn.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { fileReferences } from "../../prompt/file_references.ts";
import { quoted } from "./quoted.ts";

/** The word behind the fence of text that came from a pipe. */
const PIPED = "stdin";

/**
 * The words of a question, of which references are followed and tags are text; below them what was piped in, all of it
 * text. Where the document runs no tags (`tags`), both go without what keeps them from being run.
 */
export function questionOf(words: string, piped: string, { tags = true } = {}): string {
  const block = piped === "" ? [] : [quoted(piped, PIPED, { tags }).trimEnd()];
  return [...words === "" ? [] : [tags ? literalTags(words) : words], ...block].join("\n\n");
}

/** A text of which no tag is run. */
export function literalTags(text: string): string {
  return text.replace(/\{[{%]/g, "{% raw %}$&{% endraw %}");
}

/** Whether a text names files that a message would take in. */
export function hasReferences(text: string): boolean {
  return fileReferences(text).length > 0;
}

/** The words with every reference that begins in the folder of its document beginning in `folder` (absolute) instead. */
export function referencesFrom(folder: string, words: string): string {
  let text = "";
  let reached = 0;
  for (const { from } of fileReferences(words)) {
    const relative = /^@\.{1,2}\//.test(words.slice(from, from + 4));
    if (!relative) continue;
    text += `${words.slice(reached, from)}@/${folder === "/" ? "" : encoded(folder)}/`;
    reached = words.startsWith("@./", from) ? from + 3 : from + 1;
  }
  return text + words.slice(reached);
}

/** A path as references spell it. */
function encoded(path: string): string {
  return path.split("/").map((name) => encodeURIComponent(name)).join("/");
}

/**
 * The edit that asks something next: in the person's last message where it was not answered yet, else in a new one. Fails
 * with `text-is-structure` for a text that would be more than text there.
 */
export function askNext(chat: Chat, text: string): Outcome<Edit> {
  const edit = addLine(chat, text);
  const after = parse(applyEdits(chat.bytes, [edit]));
  const added = after.turns.length - chat.turns.length;
  const isText = (added === 0 || (added === 1 && after.turns.at(-1)?.role === "You")) &&
    after.calls.length === chat.calls.length && after.results.length === chat.results.length;
  return isText ? success(edit) : failure(
    "text-is-structure",
    "The question would begin a message, a call or a result of its own, so it was not written.",
    "Put a blank before lines that begin with @ or **Tool, and close every fence of backticks.",
  );
}
