// Conversion of tags to plain text for documents with templates switched off.

import type { Chat, Segment } from "../../parser/types.ts";
import { isTag } from "./quoted.ts";

/** Merges each run of texts and tags into one text segment. */
export function withoutTags(
  segments: readonly Segment[],
  chat: Pick<Chat, "text" | "lineAt">,
): readonly Segment[] {
  const out: Segment[] = [];
  for (const segment of segments) {
    const last = out.at(-1);
    if (segment.kind !== "text" && !isTag(segment)) out.push(segment);
    else if (segment.place === undefined) out.push(segment);
    else {
      const from = last?.kind === "text" ? last.place?.from : undefined;
      if (from !== undefined) out.pop();
      const place = from === undefined ? segment.place : { ...segment.place, from, start: chat.lineAt(from) };
      out.push({ kind: "text", value: chat.text(place.from, place.to), place });
    }
  }
  return out;
}
