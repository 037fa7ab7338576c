// The inner languages of documents: Markdown in messages, and the languages of blocks.

import { type Input, parseMixed, type Parser, type ParseWrapper, type SyntaxNodeRef } from "@lezer/common";

/** A language inside a document. */
export type InnerLanguage = "markdown" | "json" | "lua" | "yaml";

/**
 * Parses the text of messages, the inputs of calls and the frontmatter in their own languages.
 * @param parsers the parser of each language; text in a language without a parser stays one node
 */
export function withInner(parsers: Partial<Readonly<Record<InnerLanguage, Parser>>>): ParseWrapper {
  return parseMixed((node, input) => {
    const language = languageOf(node, input);
    const parser = language === null ? undefined : parsers[language];
    return parser === undefined ? null : { parser };
  });
}

/** Languages by the word after the opening fence of the frontmatter. */
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
