// Conversion of a document to the conversation for a provider.

export { conversationOf } from "./conversation.ts";
export { evaluateChat, type EvaluatedFrontmatter, type EvaluateOptions } from "./evaluate.ts";
export { luaSession, type SessionOptions } from "./template/document_lua.ts";
export type { Part, Prompt, PromptMessage } from "./types.ts";
