/**
 * Documents for hosts of Lezer: an incremental parser over strings, and a language for CodeMirror 6. It shares
 * `@lezer/common`, `@lezer/highlight`, `@lezer/markdown` and `@codemirror/language` with the host. Only the last is not
 * installed with this package: `npm install @codemirror/language`.
 *
 * @module
 */

export { ChatParser, type ChatParserOptions } from "./chat_parser.ts";
export { chatLanguage, chatParser } from "./codemirror.ts";
export { type InnerLanguage, withInner } from "./nested.ts";
