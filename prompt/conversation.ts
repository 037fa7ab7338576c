// The conversation of a document without any system: nothing is run, and no file is read.

import type { Chat } from "../parser/types.ts";
import { evaluate } from "./evaluate.ts";
import type { Prompt } from "./types.ts";

/** No document here has a place, so nothing of this is ever looked at. */
const NOWHERE = { cwd: "/", home: "/", variables: {} };

/**
 * The conversation that a document stands for, read as plain text: tags of templates and references to files stay as
 * they are written, and a first block is not run, which the answer tells as an error. It needs no system, so it works in
 * every runtime; what is sent to a provider is made by a session.
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
  return evaluate(chat, {
    document: null,
    environment: NOWHERE,
    templatedTools: [],
    settings: { files: { names: true }, templating: { enabled: false } },
    attaches: false,
  });
}
