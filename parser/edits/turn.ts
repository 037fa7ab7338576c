// New messages at the end of a document: their markers, the spacing before them, and fences to close first.

import { isSpace } from "../text/lines.ts";
import type { Edit } from "./edit.ts";
import { openFenceAtEnd } from "./escape.ts";
import type { Chat, Place } from "../types.ts";

/**
 * Returns what to append to a document before the first line of a new message: a line end if it is missing, the closing
 * fence if an open fence would hide the marker, a blank line, and the marker. All line ends are LF.
 */
export function openTurn(chat: Chat, role: "You" | "Assistant"): string {
  const { byteLength } = chat;
  const lastLine = byteLength === 0 ? "" : chat.lineText(chat.lineCount);
  const endsLine = byteLength === 0 || chat.slice(byteLength - 1, byteLength)[0] === 0x0a;
  const last = chat.turns.at(-1);
  const fence = last === undefined ? 0 : openFenceAtEnd(chat, last);
  const closing = fence > 0 ? `${"`".repeat(fence)}\n` : "";
  const spacing = fence > 0 || !isBlankLine(lastLine) ? "\n" : "";
  return `${endsLine ? "" : "\n"}${closing}${spacing}@${role}:\n`;
}

/**
 * Adds text as the user's next message. If the last message is an empty message of the user, the text goes there;
 * otherwise into a new message at the end.
 */
export function sayNext(chat: Chat, text: string): Edit {
  const last = chat.turns.at(-1);
  if (last?.role === "You" && isEmpty(last.segments)) {
    const at = chat.lineEnd(last.place.start);
    return { from: at, to: at, insert: chat.eol + withEol(chat, text) };
  }
  const at = chat.byteLength;
  return { from: at, to: at, insert: withEol(chat, `${openTurn(chat, "You")}${text}\n`) };
}

/**
 * Appends a line to the last message if it is the user's and not empty; otherwise adds the line as the user's next
 * message.
 */
export function addLine(chat: Chat, text: string): Edit {
  const last = chat.turns.at(-1);
  if (last?.role !== "You" || isEmpty(last.segments)) return sayNext(chat, text);
  const { byteLength } = chat;
  const fence = openFenceAtEnd(chat, last);
  const closing = fence > 0 ? `${"`".repeat(fence)}\n` : "";
  const endsLine = chat.slice(byteLength - 1, byteLength)[0] === 0x0a;
  const spacing = fence > 0 || !isBlankLine(chat.lineText(chat.lineCount)) ? "\n" : "";
  const insert = withEol(chat, `${endsLine ? "" : "\n"}${closing}${spacing}${text}\n`);
  return { from: byteLength, to: byteLength, insert };
}

/**
 * Returns the edit that removes the empty prompt below a reply, if the user typed the next message below it meanwhile:
 * if a merged text has more empty messages above another message of the user than both texts it was merged from.
 */
export function dropRepeatedPrompt(merged: Chat, ours: Chat, theirs: Chat): Edit | null {
  const last = ours.turns.at(-1);
  if (last?.role !== "You" || !isEmpty(last.segments)) return null;
  const found = repeatedPrompts(merged);
  const more = found.length > Math.max(repeatedPrompts(ours).length, repeatedPrompts(theirs).length);
  return more ? { from: found.at(-1)!.from, to: found.at(-1)!.to, insert: "" } : null;
}

/** Places of the empty messages of the user that another message of the user follows. */
function repeatedPrompts({ turns }: Chat): Place[] {
  return turns.filter(({ role, segments }, at) =>
    role === "You" && turns[at + 1]?.role === "You" && isEmpty(segments)
  ).map(({ place }) => place);
}

function isEmpty(segments: Chat["turns"][number]["segments"]): boolean {
  return segments.every((segment) => segment.kind === "text" && segment.value.trim() === "");
}

function withEol(chat: Chat, text: string): string {
  return chat.eol === "\n" ? text : text.replaceAll("\n", chat.eol);
}

function isBlankLine(line: string): boolean {
  for (let at = 0; at < line.length; at++) if (!isSpace(line.charCodeAt(at))) return false;
  return true;
}
