// Links between things that belong together: a call and its result by their id, and the files that a message names.

import type { Environment } from "../../../base/environment.ts";
import type { DocumentLink, Location } from "vscode-languageserver-types";
import { fileUri, folderOfDocument } from "../../../base/paths.ts";
import type { Chat, Place } from "../../../parser/types.ts";
import { fileLinks } from "../../../agent/views/file_links.ts";
import type { OpenDocument } from "../document.ts";
import { type Counted, linesRange, toOffset, toRange } from "../positions.ts";

type Position = Parameters<typeof toOffset>[1];

/** Returns the id of the call or result that contains a position; null at any other position. */
export function idAt({ chat, encoding }: Counted, position: Position): string | null {
  const offset = toOffset({ chat, encoding }, position);
  const blocks = chat.turnAt(offset)?.segments ?? [];
  for (const block of blocks) {
    if (block.kind !== "tool_use" && block.kind !== "tool_result") continue;
    if (block.place.from <= offset && offset <= block.place.to) return block.id;
  }
  return null;
}

/** Returns the call for a result, and the result for a call. */
export function definition({ counted, uri }: OpenDocument, position: Position): Location | null {
  const { chat } = counted;
  const id = idAt(counted, position);
  if (id === null) return null;
  const [call, result] = [chat.call(id), chat.result(id)];
  const offset = toOffset(counted, position);
  const isInCall = call !== undefined && call.place.from <= offset && offset <= call.place.to;
  const other = isInCall ? result?.header : call?.place;
  return other === undefined ? null : { uri, range: linesRange(counted, other.start, other.start) };
}

/** Returns every call and result with the id at a position. */
export function references({ counted, uri }: OpenDocument, position: Position): Location[] {
  return placesOfId(counted.chat, idAt(counted, position))
    .map(({ start }) => ({ uri, range: linesRange(counted, start, start) }));
}

/** Returns the lines with the id at a position. */
export function highlights({ counted }: OpenDocument, position: Position) {
  return placesOfId(counted.chat, idAt(counted, position))
    .map(({ start }) => ({ range: linesRange(counted, start, start) }));
}

function placesOfId(chat: Chat, id: string | null): Place[] {
  if (id === null) return [];
  return [...chat.calls, ...chat.results].filter((block) => block.id === id).map(({ place }) => place);
}

/** Returns links to the files that messages and results name. */
export function documentLinks({ counted, path }: OpenDocument, environment: Environment): DocumentLink[] {
  const base = { folder: path === null ? environment.cwd : folderOfDocument(path), home: environment.home };
  return fileLinks(counted.chat, environment, base).map(({ path: file, line, place }) => ({
    range: toRange(counted, place),
    // Editors open a file at a line in this form.
    target: `${fileUri(file)}${line === null ? "" : `#L${line}`}`,
  }));
}
