// Citations of a text: where they apply, and the text in pieces when it goes back.

import { isObject, textOrEmpty } from "../../base/is_object.ts";
import { quickHash } from "../../base/hash.ts";
import { itemTexts, valueText } from "../../base/text/json_text.ts";
import { trimBlank } from "../../prompt/blank.ts";
import { renderSources } from "./blocks.ts";

/** Citations of one range of a text, each as JSON text. */
export interface CitedRange {
  readonly from: number;
  readonly to: number;
  readonly citations: readonly string[];
}

/** A piece of a text with the citations of exactly this piece. */
export interface CitedPiece {
  readonly text: string;
  readonly citations: readonly string[];
}

/** Writes the citations of a text. Ranges count from the first character of the text that is not blank. */
export function writeCitations(text: string, ranges: readonly CitedRange[]): string {
  const kept = trimBlank(text);
  const lead = text.indexOf(kept);
  const within = (at: number) => Math.min(Math.max(0, at - lead), kept.length);
  const written = ranges.map(({ from, to, citations }) =>
    `[${within(from)},${within(to)},[${citations.join(",")}]]`
  );
  return `{"text":${JSON.stringify(quickHash(kept))},"ranges":[${written.join(",")}]}`;
}

/** Returns the rendering of citations: their sources. */
export function renderCitations(json: string): string {
  const sources = rangesIn(json)?.flatMap(({ citations }) =>
    citations.map((text): unknown => JSON.parse(text))
  )
    .filter(isObject).map(({ url, title, document_title: document }) => ({
      url: textOrEmpty(url),
      title: textOrEmpty(title) || textOrEmpty(document),
    }));
  return renderSources(sources ?? []);
}

/** Splits a text at its citations; null if the citations belong to another text, as after an edit. */
export function citedPieces(given: string, json: string): readonly CitedPiece[] | null {
  const text = trimBlank(given);
  const ranges = rangesIn(json);
  if (ranges === null || hashIn(json) !== quickHash(text)) return null;
  const pieces: CitedPiece[] = [];
  let reached = 0;
  for (const { from, to, citations } of ranges) {
    if (from < reached || to > text.length || to < from) return null;
    addPiece(pieces, text.slice(reached, from), []);
    addPiece(pieces, text.slice(from, to), citations);
    reached = to;
  }
  addPiece(pieces, text.slice(reached), []);
  return pieces;
}

/** Adds a piece. A blank one is joined to the piece before, because APIs refuse blank texts. */
function addPiece(pieces: CitedPiece[], text: string, citations: readonly string[]): void {
  const last = pieces.at(-1);
  if (text.trim() !== "") {
    const isContinued = last !== undefined && last.text.trim() === "";
    if (isContinued) pieces.pop();
    pieces.push({ text: isContinued ? last.text + text : text, citations });
  } else if (last !== undefined) pieces[pieces.length - 1] = { ...last, text: last.text + text };
  else if (text !== "") pieces.push({ text, citations: [] });
}

function hashIn(json: string): string {
  const value: unknown = JSON.parse(json);
  return isObject(value) ? textOrEmpty(value.text) : "";
}

/** Reads the ranges, in order, with citations in their own spelling; null if `writeCitations` did not write the text. */
function rangesIn(json: string): readonly CitedRange[] | null {
  try {
    const value: unknown = JSON.parse(json);
    if (!isObject(value) || !Array.isArray(value.ranges)) return null;
    const texts = itemTexts(valueText(json, ["ranges"]) ?? "");
    return value.ranges.map((range: unknown, at): CitedRange => {
      const [from, to, citations] = Array.isArray(range) ? range as readonly unknown[] : [];
      if (!Number.isInteger(from) || !Number.isInteger(to) || !Array.isArray(citations)) {
        throw new TypeError("a range has other items");
      }
      return { from: Number(from), to: Number(to), citations: itemTexts(itemTexts(texts[at]!)[2]!) };
    });
  } catch {
    // The text is not from this program.
    return null;
  }
}
