// Converts older spellings of a document to the current ones, with the smallest edits. flemma does this only on
// request.

import { Document } from "./document.ts";
import type { Edit } from "./edits/edit.ts";
import { bareTicks, fenceClose, fenceOpen, legacyMarker, markerRole, toolUseHeader } from "./text/lines.ts";
import { spanText } from "./text/text.ts";
import type { Chat, Result } from "./types.ts";

/** One occurrence of an older spelling. */
export type OlderForm =
  /** `@You: text`: a marker with text on the same line. */
  | { readonly kind: "marker"; readonly line: number; readonly role: string }
  /** A pending result with the fence `flemma:pending`. */
  | { readonly kind: "pending-fence"; readonly line: number; readonly id: string }
  /** A call whose tool is named as in newer versions of flemma.nvim: `server.tool`. */
  | { readonly kind: "tool-name"; readonly line: number; readonly id: string; readonly name: string };

/** The changes that bring a document to the current format. */
export interface Migration {
  /** The occurrences, by line of the original document. */
  readonly forms: readonly OlderForm[];
  /** The changes, in bytes of the original document, ascending. */
  readonly edits: readonly Edit[];
  /** The document after the changes. */
  readonly chat: Chat;
}

interface Found {
  readonly form: OlderForm;
  readonly edit: Edit;
}

const encoder = new TextEncoder();

/**
 * Finds the older spellings of a document. Quotes in fences and in the frontmatter stay as they are, and a document
 * without older spellings does not change.
 */
export function migrate(chat: Chat): Migration {
  const before = chat instanceof Document ? chat : Document.of(chat.bytes);
  const markers = joinedMarkers(before);
  // If the parser read a marker as text, it also read the results below the marker as text. So they are searched after
  // the markers are split.
  const split = edited(before, markers);
  const blocks = [...pendingFences(split), ...dottedNames(split)].sort((a, b) => a.edit.from - b.edit.from);
  const found = [...markers, ...moved(blocks, markers, before)].sort((a, b) => a.edit.from - b.edit.from);
  return {
    forms: found.map(({ form }) => form),
    edits: found.map(({ edit }) => edit),
    chat: edited(split, blocks),
  };
}

function edited(chat: Document, found: readonly Found[]): Document {
  return found.length === 0 ? chat : chat.edited(found.map(({ edit }) => edit));
}

/** Maps positions found after the edits of `earlier` to offsets before these edits; both lists ascend. */
function moved(found: readonly Found[], earlier: readonly Found[], before: Chat): Found[] {
  let grown = 0;
  let next = 0;
  return found.map(({ form, edit }) => {
    for (
      let each = earlier[next]?.edit;
      each && each.from + grown < edit.from;
      each = earlier[++next]?.edit
    ) {
      grown += encoder.encode(each.insert).length - (each.to - each.from);
    }
    const from = edit.from - grown;
    return {
      form: { ...form, line: before.lineAt(from) },
      edit: { ...edit, from, to: edit.to - grown },
    };
  });
}

/**
 * Returns the markers outside fences that have text on their line. Fences are read as they will be after each marker is
 * split from its text: a fence that begins directly after a marker then hides the lines it quotes. Before the first
 * message, a fence hides no marker of the current format.
 */
function joinedMarkers(chat: Chat): Found[] {
  const found: Found[] = [];
  let ticks = 0;
  let inMessage = false;
  const unclosed = chat.diagnostics.some(({ code }) => code === "frontmatter_unclosed");
  const first = chat.frontmatter === null ? 1 : chat.frontmatter.end + 1;
  for (let line = first; line <= chat.lineCount; line++) {
    const bytes = chat.slice(chat.lineStart(line), chat.lineEnd(line));
    const { length } = bytes;
    if ((ticks === 0 || !inMessage) && markerRole(bytes, 0, length) !== null) {
      ticks = 0;
      inMessage = true;
      continue;
    }
    if (ticks > 0) {
      if (fenceClose(bytes, 0, length, ticks)) ticks = 0;
      continue;
    }
    const marker = legacyMarker(bytes, 0, length);
    if (marker === null) {
      ticks = fenceOpen(bytes, 0, length);
      continue;
    }
    inMessage = true;
    const text = textAt(bytes, marker.text.from);
    const mayBegin = !isMarker(bytes, text) && !(unclosed && bareTicks(bytes, text, length) === 3);
    if (mayBegin) ticks = fenceOpen(bytes, text, length);
    const form = { kind: "marker", line, role: spanText(bytes, marker.role) } as const;
    found.push({ form, edit: splitAt(chat, line, bytes, { behindColon: marker.text.from, mayBegin }) });
  }
  return found;
}

/** Returns where the text of a joined marker begins, after one optional space. */
function textAt(bytes: Uint8Array, behindColon: number): number {
  return bytes[behindColon] === SPACE ? behindColon + 1 : behindColon;
}

/**
 * Moves the text of a marker's line to the next line. If the text would be read there as a marker, or as the end of an
 * unclosed frontmatter block, a space goes before it.
 */
function splitAt(
  chat: Chat,
  line: number,
  bytes: Uint8Array,
  { behindColon, mayBegin }: { readonly behindColon: number; readonly mayBegin: boolean },
): Edit {
  const text = textAt(bytes, behindColon);
  const from = chat.lineStart(line) + behindColon;
  const end = bytes.at(-1) === CARRIAGE_RETURN ? "\r\n" : chat.eol;
  if (mayBegin) return { from, to: from + (text - behindColon), insert: end };
  return { from, to: from, insert: text > behindColon ? end : `${end} ` };
}

function isMarker(bytes: Uint8Array, from: number): boolean {
  return markerRole(bytes, from, bytes.length) !== null || legacyMarker(bytes, from, bytes.length) !== null;
}

/** `flemma:pending` means the same as `flemma:tool status=pending`. */
function pendingFences(chat: Chat): Found[] {
  return chat.results.flatMap((result) =>
    result.style === "pending-fence"
      ? [{
        form: { kind: "pending-fence", line: result.opener.start, id: result.id } as const,
        edit: respelled(chat, result),
      }]
      : []
  );
}

/** Words after the old spelling had no meaning. They are removed, because the new spelling would give them one. */
function respelled(chat: Chat, { opener, ticks }: Result): Edit {
  const from = opener.from + ticks + FLEMMA.length;
  const statusText = chat.text(from, opener.to).trimEnd();
  return statusText === PENDING
    ? { from, to: from, insert: "tool status=" }
    : { from, to: from + encoder.encode(statusText).length, insert: `tool status=${PENDING}` };
}

/**
 * `server.tool` is `server:tool` here. Requests contain both as `server__tool`, so the conversation stays the same for
 * the model. The tools of flemma.nvim itself keep their names.
 */
function dottedNames(chat: Chat): Found[] {
  return chat.calls.flatMap(({ id, name, place }) => {
    const dot = name.indexOf(".");
    if (dot <= 0 || dot === name.length - 1 || name.includes(":") || name.startsWith(FLEMMA_TOOLS)) return [];
    const header = chat.slice(place.from, chat.lineEnd(place.start));
    const at = toolUseHeader(header, 0, header.length);
    if (at === null) return [];
    const from = place.from + at.name.from + encoder.encode(name.slice(0, dot)).length;
    const form = { kind: "tool-name", line: place.start, id, name } as const;
    return [{ form, edit: { from, to: from + 1, insert: ":" } }];
  });
}

const FLEMMA_TOOLS = "flemma.";
const FLEMMA = "flemma:";
const PENDING = "pending";
const SPACE = 0x20;
const CARRIAGE_RETURN = 0x0d;
