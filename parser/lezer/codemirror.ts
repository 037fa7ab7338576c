// Documents in CodeMirror: the parser with styles, folds and inner languages.

import { defineLanguageFacet, foldNodeProp, Language, StreamLanguage } from "@codemirror/language";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import type { NodePropSource } from "@lezer/common";
import { styleTags, tags } from "@lezer/highlight";
import { parser as json } from "@lezer/json";
import { GFM, parser as markdown } from "@lezer/markdown";
import { parser as yaml } from "@lezer/yaml";
import { ChatParser } from "./chat_parser.ts";
import { withInner } from "./nested.ts";

const styles: NodePropSource = styleTags({
  Marker: tags.heading,
  Header: tags.keyword,
  "Opener Closer": tags.processingInstruction,
  Tag: tags.processingInstruction,
  "AbortMarker Preamble/Lines Skipped/Lines Thinking/Body/Lines ServerTool/Body/Lines": tags.comment,
});

/** Nodes with a first line and foldable content below it. */
const folds: NodePropSource = foldNodeProp.add({
  "Turn ToolUse ToolResult Thinking ServerTool Frontmatter Code": ({ from, to }, { doc }) => {
    const { to: shown } = doc.lineAt(from);
    const text = doc.sliceString(shown, to);
    const end = shown + text.trimEnd().length;
    return end > shown ? { from: shown, to: end } : null;
  },
});

/**
 * The parser of documents with styles and folds for CodeMirror, and inner languages: Markdown in messages, JSON in
 * calls, and Lua, YAML and JSON in the frontmatter.
 */
export const chatParser: ChatParser = new ChatParser({
  props: [styles, folds],
  wrap: [withInner({
    markdown: markdown.configure(GFM),
    json,
    yaml,
    lua: StreamLanguage.define(lua).parser,
  })],
});

/**
 * Documents as a language of CodeMirror 6; usable directly as an extension.
 *
 * ```ts ignore
 * import { chatLanguage } from "flemma/lezer";
 * import { basicSetup, EditorView } from "codemirror";
 *
 * new EditorView({ doc: "@You:\nHello\n", extensions: [basicSetup, chatLanguage], parent: document.body });
 * ```
 */
export const chatLanguage: Language = new Language(defineLanguageFacet(), chatParser, [], "chat");
