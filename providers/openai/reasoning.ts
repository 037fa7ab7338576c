// A reasoning item, stored as the signature of a thinking block: base64 of the item's own JSON, which is sent back
// unchanged.

import { isObject, textOrEmpty } from "../../base/is_object.ts";
import { base64 } from "../../prompt/base64.ts";
import { listOrEmpty } from "../stream/fields.ts";

export interface ReasoningItem {
  /** JSON as the server wrote it. */
  readonly json: string;
  /** Id of the item; null if it has none. */
  readonly id: string | null;
  readonly summary: string;
  /**
   * True if the item has encrypted content. Without it, the item refers to something that the server was asked not to
   * keep.
   */
  readonly isReplayable: boolean;
}

export function writeSignature(item: Readonly<Record<string, unknown>>): string {
  return base64(new TextEncoder().encode(JSON.stringify(item)));
}

/** Returns the item in a signature, or null if it contains none. */
export function readSignature(signature: string): ReasoningItem | null {
  try {
    const json = new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(atob(signature), (character) => character.charCodeAt(0)),
    );
    const item: unknown = JSON.parse(json);
    if (!isObject(item) || item.type !== "reasoning") return null;
    const id = typeof item.id === "string" ? item.id : null;
    return { json, id, summary: summaryOf(item), isReplayable: textOrEmpty(item.encrypted_content) !== "" };
  } catch {
    return null;
  }
}

/** Returns the text of an item: the summary of the reasoning; for open models, the reasoning itself. */
export function summaryOf(item: Readonly<Record<string, unknown>>): string {
  const words = (parts: unknown): string =>
    listOrEmpty(parts).filter(isObject).map((part) => textOrEmpty(part.text)).filter((part) => part !== "")
      .join("\n\n");
  return words(item.summary) || words(item.content);
}
