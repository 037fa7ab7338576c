// A reasoning item as the signature of a thinking block: base64 of the item's own JSON, to be sent back as it came.

import { isObject } from "../../base/is_object.ts";
import { base64 } from "../../prompt/base64.ts";
import { list, text } from "../stream/fields.ts";

export interface ReasoningItem {
  /** JSON, as the server wrote it. */
  readonly json: string;
  /** What a person reads of it. */
  readonly summary: string;
  /** Whether it holds what the model needs; without it the item only names what the server was told not to keep. */
  readonly isReplayable: boolean;
}

/** The signature of an item. */
export function writeSignature(item: Readonly<Record<string, unknown>>): string {
  return base64(new TextEncoder().encode(JSON.stringify(item)));
}

/** The item of a signature, or null for one that is none. */
export function readSignature(signature: string): ReasoningItem | null {
  try {
    const json = new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(atob(signature), (character) => character.charCodeAt(0)),
    );
    const item: unknown = JSON.parse(json);
    if (!isObject(item) || item.type !== "reasoning") return null;
    return { json, summary: summaryOf(item), isReplayable: text(item.encrypted_content) !== "" };
  } catch {
    return null;
  }
}

/** The words of an item: its summary, or, of open models, the reasoning itself. */
export function summaryOf(item: Readonly<Record<string, unknown>>): string {
  const words = (parts: unknown): string =>
    list(parts).filter(isObject).map((part) => text(part.text)).filter((part) => part !== "").join("\n\n");
  return words(item.summary) || words(item.content);
}
