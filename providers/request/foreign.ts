// Thinking that another provider wrote, as text: APIs take only their own as thinking.

import { isBlank, trimBlank } from "../../prompt/blank.ts";
import type { Part } from "../../prompt/types.ts";
import type { ThinkingPart } from "../types.ts";

/**
 * All foreign thinking of a message as one text in tags, or null when there is none or it is to be dropped. Redacted
 * blocks are for their provider alone and never become text.
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
