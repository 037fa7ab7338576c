// The conversation of a document as plain text, without running anything or reading files.

import type { Chat } from "../parser/types.ts";
import { evaluateChat } from "./evaluate.ts";
import type { Prompt } from "./types.ts";

/** Folders that are never used, because no file is resolved here. */
const NOWHERE = { cwd: "/", home: "/", variables: {} };

/**
 * Returns the conversation of a document as plain text: template tags and file references stay as written. Frontmatter
 * is not run and is reported as an error. It needs no system access, so it works in every runtime; to build what is
 * sent to a provider, use a session.
 *
 * ```ts
 * import { conversationOf, parse } from "flemma";
 *
 * const chat = parse(new TextEncoder().encode("@You:\nHello {{ name }}\n"));
 * console.log((await conversationOf(chat)).history[0]?.parts); // [ { kind: "text", text: "Hello {{ name }}" } ]
 * ```
 *
 * @param chat the document
 * @returns the messages with texts, calls and results
 */
export function conversationOf(chat: Chat): Promise<Prompt> {
  return evaluateChat(chat, {
    document: null,
    environment: NOWHERE,
    templatedTools: [],
    settings: { files: { names: true }, templating: { enabled: false } },
    attaches: false,
  });
}
