// The text of a person's message: their words, piped text, and paths relative to another folder.

import { failure, type Outcome, success } from "../../base/problem.ts";
import { applyEdits, type Edit } from "../../parser/edits/edit.ts";
import { addLine } from "../../parser/edits/turn.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { fileReferences } from "../../prompt/file_references.ts";
import { quoteText } from "./quoted.ts";

/** Info string of the fence around piped text. */
const PIPED = "stdin";

/**
 * Joins the words of a question and the piped text below them. In the words, references work and template tags are
 * plain text; in the piped text, everything is plain text. If the document evaluates no tags (`tags: false`), none
 * are escaped.
 */
export function questionOf(words: string, piped: string, { tags = true } = {}): string {
  const block = piped === "" ? [] : [quoteText(piped, PIPED, { tags }).trimEnd()];
  return [...words === "" ? [] : [tags ? literalTags(words) : words], ...block].join("\n\n");
}

/** Escapes template tags, so that none is evaluated. */
export function literalTags(text: string): string {
  return text.replace(/\{[{%]/g, "{% raw %}$&{% endraw %}");
}

/** True if a text names files that the message would include. */
export function hasReferences(text: string): boolean {
  return fileReferences(text).length > 0;
}

/**
 * Rewrites every reference in the words that begins in the document's folder, so that it begins in `folder`
 * (absolute).
 */
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

function encoded(path: string): string {
  return path.split("/").map((name) => encodeURIComponent(name)).join("/");
}

/**
 * Returns the edit that asks the next question: in the person's last message if nobody answered it yet, else in a new
 * message. Fails with `text-is-structure` if the document would read the text as structure.
 */
export function askNext(chat: Chat, text: string): Outcome<Edit> {
  const edit = addLine(chat, text);
  const after = parse(applyEdits(chat.bytes, [edit]));
  const added = after.turns.length - chat.turns.length;
  const isText = added === (chat.turns.at(-1)?.role === "You" ? 0 : 1) &&
    after.turns.at(-1)?.role === "You" &&
    after.calls.length === chat.calls.length && after.results.length === chat.results.length;
  return isText ? success(edit) : failure(
    "text-is-structure",
    "The question was not written, because its text would start a message, a call or a result.",
    "Put a space before lines that begin with @ or **Tool, and close every backtick fence.",
  );
}
