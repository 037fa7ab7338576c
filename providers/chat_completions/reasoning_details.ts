// Reasoning that a gateway requires back unchanged. It is stored as the signature of a thinking block: base64 of its
// JSON array.

import { isObject, textOrEmpty } from "../../base/is_object.ts";
import { base64 } from "../../prompt/base64.ts";
import { Raw } from "../request/json.ts";
import { numberOrNull } from "../stream/fields.ts";

type Detail = Readonly<Record<string, unknown>>;

/**
 * Adds the pieces of one event to the details. Pieces with the same index and type form one entry: their texts are
 * joined, other members are replaced.
 */
export function addDetails(details: Detail[], pieces: readonly unknown[]): void {
  for (const piece of pieces) {
    if (!isObject(piece)) continue;
    const index = numberOrNull(piece.index);
    const at = details.findIndex((detail) =>
      detail.type === piece.type && numberOrNull(detail.index) === index && index !== null
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
    result[key] = grows ? textOrEmpty(result[key]) + value : value;
  }
  return result;
}

/** Members whose value arrives in pieces. */
const GROWING: ReadonlySet<string> = new Set(["text", "summary", "data"]);

export function detailWords(pieces: readonly unknown[]): string {
  return pieces.filter(isObject).map((piece) => textOrEmpty(piece.text) || textOrEmpty(piece.summary)).join(
    "",
  );
}

export function writeDetails(details: readonly Detail[]): string {
  return base64(new TextEncoder().encode(JSON.stringify(details)));
}

/** Returns the details in a signature unchanged; empty for a signature of another kind. */
export function readDetails(signature: string): readonly Raw[] {
  try {
    const bytes = Uint8Array.from(atob(signature), (character) => character.charCodeAt(0));
    const details: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return Array.isArray(details) ? details.map((detail) => new Raw(JSON.stringify(detail))) : [];
  } catch {
    return [];
  }
}
