// Finds the file names in a document, in messages and in headers of results, for hosts that can open the files.

import type { Environment } from "../../base/environment.ts";
import { attachmentsFolder } from "../../base/folders.ts";
import { isSha256 } from "../../base/hash.ts";
import type { Chat, Result } from "../../parser/types.ts";
import { fileReferences } from "../../prompt/file_references.ts";

/** A file named in a document, with the position of the name in bytes. */
export interface FileLink {
  /** The path as written: relative to the document, to the home folder, or absolute. */
  readonly path: string;
  readonly place: { readonly from: number; readonly to: number };
}

/** Lists the references of System and You messages, then the files in headers of results, each in document order. */
export function fileLinks(chat: Chat, environment: Environment): FileLink[] {
  return [...references(chat), ...chat.results.flatMap((result) => attachments(chat, result, environment))];
}

/** Returns the files in the header of a result. A name gets a link only if it is the digest of a saved file. */
function attachments(chat: Chat, { attachments, header }: Result, environment: Environment): FileLink[] {
  const line = chat.lineText(header.start);
  return [...new Set(attachments)].filter(isSha256).map((name) => {
    const from = header.from + bytes(line.slice(0, line.lastIndexOf(name)));
    const place = { from, to: from + name.length };
    return { path: `${attachmentsFolder(environment)}/${name}`, place };
  });
}

function references(chat: Chat): FileLink[] {
  const links: FileLink[] = [];
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

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
