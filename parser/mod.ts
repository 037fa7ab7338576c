// The room of the format: bytes to a typed document, and on to the next version of it after edits.

import { applyEdits, type Edit } from "./edit.ts";
import { Document } from "./document.ts";
import { Source } from "./source.ts";
import { type Change, parseTree, reparse } from "./tree.ts";
import type { Chat } from "./types.ts";

export { applyEdits, type Edit } from "./edit.ts";
export { diagnosticJson, toJson } from "./json.ts";
export { ROLES } from "./diagnostic.ts";
export { fenceClose, fenceOpen, markerRole, toolResultHeader, toolUseHeader } from "./lines.ts";
export * from "./types.ts";

/** Parses a document. Any bytes are a document: faults of the text are diagnostics, never exceptions. */
export function parse(bytes: Uint8Array): Chat {
  const source = Source.of(bytes);
  return new Document(source, parseTree(source));
}

/**
 * The document after edits, which all refer to the bytes of `chat`. Equals `parse` of the edited bytes; what the
 * edits leave alone is not parsed again. Throws a RangeError for edits that overlap or lie outside the document.
 */
export function update(chat: Chat, edits: readonly Edit[]): Chat {
  const bytes = applyEdits(chat.bytes, edits);
  if (bytes === chat.bytes) return chat;
  if (!(chat instanceof Document)) return parse(bytes);
  const changes = changedRanges(edits);
  const source = chat.source.edited(bytes, changes[0]!.fromA, changes.at(-1)!.toA);
  return new Document(source, reparse(chat.source, chat.tree, source, changes));
}

/** The replaced ranges in both versions, ascending; edits that touch make one range. */
function changedRanges(edits: readonly Edit[]): Change[] {
  const ordered = edits.map((edit, order) => ({ edit, order }))
    .sort((a, b) => a.edit.from - b.edit.from || a.order - b.order);
  const changes: { fromA: number; toA: number; fromB: number; toB: number }[] = [];
  let delta = 0;
  for (const { edit: { from, to, insert } } of ordered) {
    const length = new TextEncoder().encode(insert).length;
    const last = changes.at(-1);
    if (last !== undefined && last.toA === from) {
      last.toA = to;
      last.toB += length;
    } else {
      changes.push({ fromA: from, toA: to, fromB: from + delta, toB: from + delta + length });
    }
    delta += length - (to - from);
  }
  return changes;
}
