// Public interface of the parser: parses bytes to a typed document, and updates the document after edits.

import { Document } from "./document.ts";
import { applyEdits, type ByteEdit } from "./edits/edit.ts";
import type { Chat } from "./types.ts";

export { applyEdits, type ByteEdit, type Edit } from "./edits/edit.ts";
export { diagnosticJson, toJson } from "./json.ts";
export { ROLES } from "./view/diagnostic.ts";
export { fenceClose, fenceOpen, markerRole, toolResultHeader, toolUseHeader } from "./text/lines.ts";
export * from "./types.ts";

/**
 * Parses a document. Any bytes are a document: faults of the text are diagnostics, never exceptions.
 *
 * ```ts
 * import { parse } from "flemma";
 *
 * const chat = parse(new TextEncoder().encode("@You:\nHello\n"));
 * console.log(chat.turns[0]?.role); // You
 * ```
 *
 * @param bytes the whole text
 * @returns the document; its parts are read on first use
 */
export function parse(bytes: Uint8Array): Chat {
  return Document.of(bytes);
}

/**
 * Returns the document after edits, which all refer to the bytes of `chat`. Equals `parse` of the edited bytes;
 * unchanged parts are neither copied nor parsed again.
 *
 * ```ts
 * import { parse, update } from "flemma";
 *
 * const chat = parse(new TextEncoder().encode("@You:\nHello\n"));
 * console.log(update(chat, [{ from: 11, to: 11, insert: ", world" }]).lineText(2)); // Hello, world
 * ```
 *
 * @param chat the document before
 * @param edits the changes, in any order
 * @returns the document after; `chat` is not changed
 * @throws RangeError if edits overlap or lie outside the document
 */
export function update(chat: Chat, edits: readonly ByteEdit[]): Chat {
  if (edits.length === 0) return chat;
  return chat instanceof Document ? chat.edited(edits) : parse(applyEdits(chat.bytes, edits));
}
