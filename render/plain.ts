// Rendering of a conversation as plain text: complete texts as written, without decoration.

import { visible } from "../base/visible.ts";
import { resultWords } from "./result_words.ts";
import type { ConversationView, Field, PartView, ResultView } from "./types.ts";

/** Generates the conversation as text that is safe to show; each piece ends with a line end. */
export function* plainText({ settings, preamble, messages }: ConversationView): Generator<string> {
  if (settings !== null) yield section(`Frontmatter, ${settings.language}`, [settings.code]);
  if (preamble !== null) yield section("Before the first message", [preamble.text]);
  for (const { role, parts } of messages) yield section(role, parts.map(partText));
}

function section(title: string, texts: readonly string[]): string {
  const body = texts.map((text) => visible(text, { lines: true }).replace(/^\n+|\n+$/g, ""));
  return `${visible(title)}:\n\n${body.join("\n\n")}\n\n`;
}

function partText(part: PartView): string {
  switch (part.kind) {
    case "prose":
      return part.text;
    case "thinking":
      return part.redacted ? "Thinking, hidden by the provider" : `Thinking:\n${part.text}`;
    case "server_tool":
      return `${part.title[0]!.toUpperCase()}${part.title.slice(1)}:\n${part.text}`;
    case "aborted":
      return `Interrupted: ${part.text}`;
    case "call": {
      // The words "Call of" stay, because git configurations that `flemma git setup` wrote recognize them.
      const label = part.label === "" ? "" : ` # ${part.label}`;
      const result = part.result === null ? "Result: none yet" : resultText(part.result);
      return [`Call of ${part.tool} (${part.id})${label}`, ...part.fields.map(fieldText), result].join("\n");
    }
    case "result":
      return resultText(part);
  }
}

function fieldText({ name, text }: Field): string {
  return text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`;
}

function resultText(result: ResultView): string {
  if (result.text === "") return `Result: ${resultWords(result).words}`;
  // If a result has a text, its status is mentioned only if it is unusual.
  return `Result:${result.status === null ? "" : ` ${resultWords(result).words}`}\n${result.text}`;
}
