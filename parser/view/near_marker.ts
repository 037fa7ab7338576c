// Finds lines that look like the beginning of a message but are not, because a colon is missing, or because of a blank
// or decoration.

import type { Chat } from "../types.ts";
import { nearestRole, ROLES } from "./diagnostic.ts";

/** A line that is not a marker, and the marker that it resembles. */
export interface NearMarker {
  /** 1-based line number. */
  readonly line: number;
  /** The line without trailing blanks. */
  readonly written: string;
  /** The role, as a marker spells it. */
  readonly role: string;
}

/**
 * Matches a name with an @, or a common name with a colon, alone on its line. The name may be indented, in bold, or a
 * heading. A name with an @ may have another punctuation mark in place of the colon, or none.
 */
const LOOKS_LIKE_ONE =
  /^[\s>#*_-]*(?:[@＠]\s*(\p{L}+)\s*[:：;.,]?|(you|user|human|assistant|system)\s*[:：])[\s*_]*$/iu;
const MARKER = new RegExp(`^@(?:${ROLES.join("|")}):\\s*$`);

/** Maximum length in bytes of a text that is searched for such lines. A longer text is probably not written by hand. */
const MOST = 64 * 1024;

/**
 * Returns where the first message was probably meant to begin in a document without messages; null if no line
 * resembles a marker.
 */
export function markerMeantFirst(chat: Chat): NearMarker | null {
  return nearMarkers(chat.text(0, Math.min(chat.byteLength, MOST)), 1)[0] ?? null;
}

/**
 * Returns where the user's message was probably meant to begin in the last message, which is the model's; null if no
 * line resembles a marker. Such a line counts only if there is text below it.
 */
export function markerMeantLast(chat: Chat): NearMarker | null {
  const place = chat.turns.at(-1)?.place;
  if (place === undefined || place.to - place.from > MOST) return null;
  const text = chat.text(place.from, place.to);
  const near = nearMarkers(text, place.start).findLast(({ role }) => role === "You");
  if (near === undefined) return null;
  return linesOf(text).slice(near.line - place.start + 1).some((line) => line.trim() !== "") ? near : null;
}

/** Returns the sentence for the user about such a line. */
export function noMarkerSentence({ line, written, role }: NearMarker): string {
  return `Line ${line}, "${written}", does not start a message. Write only @${role}: on the line, without indentation.`;
}

/** Returns the lines that resemble a marker but are not markers; `first` is the number of the first line. */
function nearMarkers(text: string, first: number): readonly NearMarker[] {
  return linesOf(text).flatMap((line, at) => {
    const found = MARKER.test(line) ? null : LOOKS_LIKE_ONE.exec(line);
    const name = found?.[1] ?? found?.[2];
    const role = name === undefined ? null : nearestRole(name);
    return role === null ? [] : [{ line: first + at, written: line.trimEnd(), role }];
  });
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r\n|\r|\n/);
}
