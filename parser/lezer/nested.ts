// The languages inside of documents: Markdown in messages, and what stands in blocks.

import { type Input, parseMixed, type Parser, type ParseWrapper, type SyntaxNodeRef } from "@lezer/common";

/** A language that stands inside of a document. */
export type InnerLanguage = "markdown" | "json" | "lua" | "yaml";

/**
 * Parses the text of messages, the inputs of calls and the first block by their own languages.
 *
 * @param parsers who parses what; a language that is left out stays one piece of text
 */
export function withInner(parsers: Partial<Readonly<Record<InnerLanguage, Parser>>>): ParseWrapper {
  return parseMixed((node, input) => {
    const language = languageOf(node, input);
    const parser = language === null ? undefined : parsers[language];
    return parser === undefined ? null : { parser };
  });
}

/** The word behind the fence that opens a first block, as it is read there. */
const BLOCK_LANGUAGES: Readonly<Record<string, InnerLanguage>> = {
  lua: "lua",
  json: "json",
  yaml: "yaml",
  yml: "yaml",
};

function languageOf(node: SyntaxNodeRef, input: Input): InnerLanguage | null {
  if (node.name === "Text") return "markdown";
  if (node.name !== "Body") return null;
  const { parent, prevSibling: opener } = node.node;
  if (parent?.name === "ToolUse") return "json";
  if (parent?.name !== "Frontmatter" || opener === null) return null;
  const word = input.read(opener.from, opener.to).replaceAll("`", "").trim();
  return Object.hasOwn(BLOCK_LANGUAGES, word) ? BLOCK_LANGUAGES[word]! : null;
}
