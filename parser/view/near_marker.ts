// Lines that look as if they began a message and begin none: a colon, a blank or a decoration is all that is wrong.

import type { Chat } from "../types.ts";
import { nearestRole, ROLES } from "./diagnostic.ts";

/** A line that is no marker, and the marker that it looks like. */
export interface NearMarker {
  /** From 1. */
  readonly line: number;
  /** The line without the blanks behind it. */
  readonly written: string;
  /** The role as a marker has it. */
  readonly role: string;
}

/**
 * A name with an @, or a usual one that ends in a colon, alone on its line: indented, in bold, as a heading, with another
 * colon or none.
 */
const LOOKS_LIKE_ONE =
  /^[\s>#*_-]*(?:[@＠]\s*(\p{L}+)\s*[:：;.,]?|(you|user|human|assistant|system)\s*[:：])[\s*_]*$/iu;
const MARKER = new RegExp(`^@(?:${ROLES.join("|")}):\\s*$`);

/** Bytes that are looked at: a text without a marker, or a message, that is longer was hardly written by hand. */
const MOST = 64 * 1024;

/** Where the first message of a document without any was meant to begin; null when nothing looks like that. */
export function markerMeantFirst(chat: Chat): NearMarker | null {
  return nearMarkers(chat.text(0, Math.min(chat.byteLength, MOST)), 1)[0] ?? null;
}

/**
 * Where, in the last message, which is the model's, the person's own was meant to begin; null when nothing looks like that.
 * With nothing below it nobody began anything.
 */
export function markerMeantLast(chat: Chat): NearMarker | null {
  const place = chat.turns.at(-1)?.place;
  if (place === undefined || place.to - place.from > MOST) return null;
  const text = chat.text(place.from, place.to);
  const near = nearMarkers(text, place.start).findLast(({ role }) => role === "You");
  if (near === undefined) return null;
  return linesOf(text).slice(near.line - place.start + 1).some((line) => line.trim() !== "") ? near : null;
}

/** What a person is told of such a line. */
export function noMarkerSentence({ line, written, role }: NearMarker): string {
  return `Line ${line}, "${written}", begins no message: write @${role}: alone on the line, at its beginning.`;
}

/** The lines of a text that look like a marker of a role and are none; `first` is the number of its first line. */
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
