// Whose thinking it is, and conversion of other providers' thinking to text, because APIs accept only their own.

import { isBlank, trimBlank } from "../../prompt/blank.ts";
import type { Part } from "../../prompt/types.ts";
import type { ThinkingPart } from "../types.ts";

/** Returns a provider's name for tags of a document, which allow only letters and digits. */
export function tagName(provider: string): string {
  return provider.replace(/[^A-Za-z0-9]/g, "") || "chat";
}

/**
 * Joins all thinking of other providers in a message into one tagged text. Null if there is no such thinking, or if the
 * settings drop it. Redacted blocks never become text, because only their provider can read them.
 */
export function foreignThinking(
  parts: readonly Part[],
  isNative: (part: ThinkingPart) => boolean,
  foreign: "preserve" | "drop",
): string | null {
  if (foreign === "drop") return null;
  const contents = parts.flatMap((part) =>
    part.kind === "thinking" && !part.redacted && !isNative(part) && !isBlank(part.content)
      ? [trimBlank(part.content)]
      : []
  );
  return contents.length === 0 ? null : `<thinking>\n${contents.join("\n\n")}\n</thinking>`;
}
