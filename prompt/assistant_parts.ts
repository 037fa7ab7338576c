// Conversion of the model's message to the parts that are sent back.

import { unescapeTurn } from "../parser/edits/escape.ts";
import type { Chat, Turn } from "../parser/types.ts";
import { isBlank } from "./blank.ts";
import { addText } from "./parts.ts";
import type { Part } from "./types.ts";

/** Returns the texts, thinking, server tools and calls of a model's message in order, without blank texts at the end. */
export function assistantParts(chat: Chat, turn: Turn): readonly Part[] {
  const parts: Part[] = [];
  for (const segment of unescapeTurn(chat, turn)) {
    if (segment.kind === "text") addText(parts, segment.value);
    else if (segment.kind === "thinking") {
      const { content, signature, redacted, place } = segment;
      parts.push({
        kind: "thinking",
        content,
        ...(signature === undefined ? {} : { signature }),
        redacted,
        line: place.start,
      });
    } else if (segment.kind === "server_tool") {
      const { what, provider, value, content, place } = segment;
      parts.push({ kind: "server_tool", what, provider, value, content, line: place.start });
    } else if (segment.kind === "tool_use") {
      const { id, name, input, inputText, flaw } = segment;
      // JSON that no parser accepts would make every later request fail.
      parts.push({ kind: "tool_use", id, name, input, inputText: flaw === null ? inputText : "{}" });
    } else if (segment.kind === "aborted" && turn.calls.length === 0) {
      parts.push({ kind: "text", text: `<!-- ${segment.message} -->` });
    }
  }
  for (let last = parts.at(-1); last?.kind === "text" && isBlank(last.text); last = parts.at(-1)) {
    parts.pop();
  }
  return parts;
}
