// Assignment of thought signatures to the parts of a message.
//
// A signature belongs to one part of a reply and must go back on that part. In the document, the signature is in a
// thinking block before the signed part. In the older format, it is in a thinking block at the end of the message.

import { isBlank } from "../../prompt/blank.ts";
import type { Part } from "../../prompt/types.ts";
import type { ThinkingPart } from "../types.ts";

/** Text sent in place of a missing signature, for calls by other models or calls typed by hand. */
export const STAND_IN = "skip_thought_signature_validator";

/** Maps each signed text and call of a message to its signature. */
export function signaturesOf(
  parts: readonly Part[],
  isNative: (part: ThinkingPart) => boolean,
): ReadonlyMap<Part, string> {
  const carriers = parts.filter((part) => part.kind === "tool_use" || isText(part));
  const signed = parts.filter((part): part is ThinkingPart =>
    part.kind === "thinking" && valueOf(part) !== ""
  );
  const native = signed.filter(isNative);
  const last = native.at(-1);
  if (last === undefined) return new Map();
  const lastCarrier = carriers.at(-1);
  const standsLast = lastCarrier !== undefined &&
    native.every((part) => parts.indexOf(part) > parts.indexOf(lastCarrier));
  if (standsLast) {
    const carrier = carriers.find(({ kind }) => kind === "tool_use") ?? lastCarrier;
    return new Map([[carrier, valueOf(last)]]);
  }
  return beforeTheirPart(parts, native);
}

function beforeTheirPart(parts: readonly Part[], native: readonly Part[]): ReadonlyMap<Part, string> {
  const signatures = new Map<Part, string>();
  let waiting: string | null = null;
  for (const part of parts) {
    if (part.kind === "thinking" && native.includes(part)) waiting = valueOf(part);
    else if (waiting !== null && (part.kind === "tool_use" || isText(part))) {
      signatures.set(part, waiting);
      waiting = null;
    }
  }
  if (waiting === null) return signatures;
  // The signature arrived at the end of the reply, in an empty part, which is not sent. The API accepts it on the last
  // text.
  const text = parts.findLast((part) => isText(part) && !signatures.has(part));
  return text === undefined ? signatures : signatures.set(text, waiting);
}

function isText(part: Part): boolean {
  return part.kind === "text" && !isBlank(part.text);
}

function valueOf(part: ThinkingPart): string {
  return part.signature?.value ?? "";
}
