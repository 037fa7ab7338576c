// Positions in a text as editors count them: in UTF-16 code units or bytes, with lines that end at a line feed.

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

export interface TextEdit {
  readonly range: Range;
  readonly newText: string;
}

/** What a position counts on its line. */
export type Unit = "utf-8" | "utf-16";

/** The text after edits, each of the text after the one before. */
export function applied(text: string, edits: readonly TextEdit[], unit: Unit = "utf-16"): string {
  for (const { range, newText } of edits) {
    text = text.slice(0, offsetOf(text, range.start, unit)) + newText +
      text.slice(offsetOf(text, range.end, unit));
  }
  return text;
}

/** The code units before a position. */
export function offsetOf(text: string, { line, character }: Position, unit: Unit = "utf-16"): number {
  let start = 0;
  for (let at = 0; at < line; at++) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  const end = text.indexOf("\n", start);
  const content = text.slice(start, end < 0 ? text.length : end);
  if (unit === "utf-16") return start + Math.min(character, content.length);
  const before = encoder.encode(content).subarray(0, character);
  // As a part of a stream a character that is cut in the middle is held back.
  return start + new TextDecoder("utf-8", { ignoreBOM: true }).decode(before, { stream: true }).length;
}

/** The position behind so many code units. */
export function positionOf(text: string, offset: number, unit: Unit = "utf-16"): Position {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  const content = before.slice(start);
  return {
    line: before.split("\n").length - 1,
    character: unit === "utf-16" ? content.length : encoder.encode(content).length,
  };
}

const encoder = new TextEncoder();
