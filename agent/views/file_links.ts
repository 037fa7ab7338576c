// Where the messages of a document name files that are attached, for hosts that can open them.

import type { Chat } from "../../parser/types.ts";
import { fileReferences } from "../../prompt/file_references.ts";

/** A file as a message names it, and where, in bytes. */
export interface FileLink {
  /** As it stands there: relative to the document, to home, or absolute. */
  readonly path: string;
  readonly place: { readonly from: number; readonly to: number };
}

/** The references of System and You messages, in document order. */
export function fileLinks(chat: Chat): FileLink[] {
  const links: FileLink[] = [];
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  for (const { role, segments } of chat.turns) {
    if (role !== "System" && role !== "You") continue;
    for (const segment of segments) {
      if (segment.kind !== "text" || segment.raw || segment.place === undefined) continue;
      for (const { from, to, path } of fileReferences(segment.value)) {
        const start = segment.place.from + bytes(segment.value.slice(0, from));
        links.push({ path, place: { from: start, to: start + bytes(segment.value.slice(from, to)) } });
      }
    }
  }
  return links;
}
