// Finds the file names in a document, in messages and in headers of results, for hosts that can open the files.

import type { Environment } from "../../base/environment.ts";
import { attachmentsFolder } from "../../base/folders.ts";
import { type PathBase, resolvePath } from "../../base/paths.ts";
import { isSha256 } from "../../base/hash.ts";
import type { Chat, Result } from "../../parser/types.ts";
import { requestedLines } from "../../prompt/attach.ts";
import { fileReferences } from "../../prompt/file_references.ts";

/** A file named in a document, with the position of the name in bytes. */
export interface FileLink {
  /** Absolute path. */
  readonly path: string;
  /** Number of the first line that the reference asks for, beginning with 1; null if it means the whole file. */
  readonly line: number | null;
  readonly place: { readonly from: number; readonly to: number };
}

/**
 * Lists the references of System and You messages, then the files in headers of results, each in document order.
 *
 * @param base where relative references start
 */
export function fileLinks(chat: Chat, environment: Environment, base: PathBase): FileLink[] {
  return [
    ...references(chat, base),
    ...chat.results.flatMap((result) => attachments(chat, result, environment)),
  ];
}

/** Returns the files in the header of a result. A name gets a link only if it is the digest of a saved file. */
function attachments(chat: Chat, { attachments, header }: Result, environment: Environment): FileLink[] {
  const line = chat.lineText(header.start);
  return [...new Set(attachments)].filter(isSha256).map((name) => {
    const from = header.from + bytes(line.slice(0, line.lastIndexOf(name)));
    const place = { from, to: from + name.length };
    return { path: `${attachmentsFolder(environment)}/${name}`, line: null, place };
  });
}

function references(chat: Chat, base: PathBase): FileLink[] {
  const links: FileLink[] = [];
  for (const { role, segments } of chat.turns) {
    if (role !== "System" && role !== "You") continue;
    for (const segment of segments) {
      if (segment.kind !== "text" || segment.raw || segment.place === undefined) continue;
      for (const reference of fileReferences(segment.value)) {
        const { from, to } = reference;
        const start = segment.place.from + bytes(segment.value.slice(0, from));
        const place = { from: start, to: start + bytes(segment.value.slice(from, to)) };
        const lines = requestedLines(reference, base);
        links.push({
          path: resolvePath(lines?.path ?? reference.path, base),
          line: lines === undefined ? null : Math.max(1, Math.min(lines.first, lines.last)),
          place,
        });
      }
    }
  }
  return links;
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
