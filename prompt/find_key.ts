// Finds a key of this program in a conversation that is about to be sent.

import type { Problem } from "../base/problem.ts";
import { findOwnKey } from "../base/text/secrets.ts";
import type { Chat } from "../parser/types.ts";
import type { Part, Prompt } from "./types.ts";

/** Why a conversation must not be sent: it contains a key with which this program signs in. Null if it has none. */
export function findKeyInPrompt({ system, systemLine, history }: Prompt, chat: Chat): Problem | null {
  const texts = [
    { line: systemLine ?? 1, text: system ?? "", files: [] as readonly string[] },
    ...history.flatMap(({ line, parts }) => parts.map((part) => ({ line: line ?? 1, ...textOf(part) }))),
  ];
  for (const { line, text, files } of texts) {
    const found = findOwnKey(text);
    if (found === null) continue;
    const place = files.length > 0
      ? `the file ${files.join(", ")} in the message at line ${line}`
      : `line ${lineOf(chat, line) ?? line}`;
    return {
      code: "key-in-request",
      message: `Not sent: the request would contain the value of ${found.name}, from ${place}.`,
      next: "Remove it there. If others may have seen it, replace the key.",
    };
  }
  return null;
}

/** Everything of a part that is sent as text, and the file that it comes from. */
function textOf(part: Part): { readonly text: string; readonly files: readonly string[] } {
  switch (part.kind) {
    case "text":
      return { text: part.text, files: [] };
    case "server_tool":
    case "thinking":
      return { text: part.content, files: [] };
    case "tool_use":
      return { text: part.inputText, files: [] };
    case "text_file":
      return { text: part.text, files: [part.filename] };
    case "tool_result":
      return { text: part.parts.map((each) => textOf(each).text).join("\n"), files: [] };
    default:
      return { text: "", files: [] };
  }
}

/** The first line at or below a message's marker that contains a key; null if no line does, as after a template. */
function lineOf(chat: Chat, from: number): number | null {
  for (let line = from; line <= chat.lineCount; line++) {
    if (findOwnKey(chat.lineText(line)) !== null) return line;
  }
  return null;
}
