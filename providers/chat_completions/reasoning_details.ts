// Reasoning that a gateway wants back unchanged, as the signature of a thinking block: base64 of its JSON list.

import { isObject } from "../../base/is_object.ts";
import { base64 } from "../../prompt/base64.ts";
import { Raw } from "../request/json.ts";
import { count, text } from "../stream/fields.ts";

type Detail = Readonly<Record<string, unknown>>;

/**
 * Adds the pieces of one event to the details so far. Pieces of one entry have its index and type; texts of theirs are
 * joined, anything else is replaced.
 */
export function addDetails(details: Detail[], pieces: readonly unknown[]): void {
  for (const piece of pieces) {
    if (!isObject(piece)) continue;
    const index = count(piece.index);
    const at = details.findIndex((detail) =>
      detail.type === piece.type && count(detail.index) === index && index !== null
    );
    const last = details[at];
    if (last === undefined) details.push({ ...piece });
    else details[at] = joined(last, piece);
  }
}

function joined(detail: Detail, piece: Detail): Detail {
  const result: Record<string, unknown> = { ...detail };
  for (const [key, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const grows = GROWING.has(key) && typeof value === "string";
    result[key] = grows ? text(result[key]) + value : value;
  }
  return result;
}

/** Members of which events bring pieces. */
const GROWING: ReadonlySet<string> = new Set(["text", "summary", "data"]);

/** The words of details, for people. */
export function detailWords(pieces: readonly unknown[]): string {
  return pieces.filter(isObject).map((piece) => text(piece.text) || text(piece.summary)).join("");
}

/** What a provider is called in the tags of a document, whose names have letters and digits only. */
export function tagName(provider: string): string {
  return provider.replace(/[^A-Za-z0-9]/g, "") || "chat";
}

export function writeDetails(details: readonly Detail[]): string {
  return base64(new TextEncoder().encode(JSON.stringify(details)));
}

/** The details of a signature as they came, or none for a signature of another kind. */
export function readDetails(signature: string): readonly Raw[] {
  try {
    const bytes = Uint8Array.from(atob(signature), (character) => character.charCodeAt(0));
    const details: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return Array.isArray(details) ? details.map((detail) => new Raw(JSON.stringify(detail))) : [];
  } catch {
    return [];
  }
}
