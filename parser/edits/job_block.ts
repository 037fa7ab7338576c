// The blocks with the results of background jobs: how they are written, and where in the document.

import { fenceFor } from "./result_block.ts";
import type { Edit } from "./edit.ts";
import { openTurn } from "./turn.ts";
import type { Chat, Turn } from "../types.ts";

/** The result of a background job. */
export interface JobBlock {
  readonly id: string;
  /** The body, which is written unchanged. */
  readonly content: string;
  /** True to write `error` into the header. */
  readonly error: boolean;
}

/**
 * Writes the results of jobs into a message of their own, below the results of calls. A text of the person stays below
 * them, byte for byte.
 *
 * @param asks true if the model is to answer: the blocks then take the place of an empty last message. Otherwise, the
 * document ends with an empty message, so that the blocks alone do not cause a request.
 */
export function insertJobResults(chat: Chat, blocks: readonly JobBlock[], { asks }: { asks: boolean }): Edit {
  const body = blocks.flatMap((block, at) => [...(at === 0 ? [] : [""]), ...linesOf(block)]);
  const last = chat.turns.at(-1);
  const insert = (at: number, lines: readonly string[]) => ({
    from: at,
    to: at,
    insert: lines.join(chat.eol),
  });
  if (last?.role !== "You") {
    const lines = [...openTurn(chat, "You").split("\n"), ...body, ...(asks ? [""] : ["", "@You:", ""])];
    return insert(chat.byteLength, lines);
  }
  const above = lastBlock(last);
  if (above !== null) {
    const isFollowed = chat.text(chat.lineEnd(above), last.place.to).trim() !== "";
    return insert(chat.lineEnd(above), ["", "", "@You:", "", ...body, ...(isFollowed ? ["", "@You:"] : [])]);
  }
  const isEmpty = last.segments.every((segment) => segment.kind === "text" && segment.value.trim() === "");
  return asks && isEmpty
    ? insert(chat.lineEnd(last.place.start), ["", "", ...body])
    : insert(chat.lineStart(last.place.start), ["@You:", "", ...body, "", ""]);
}

function linesOf({ id, content, error }: JobBlock): string[] {
  const text = content.replaceAll("\0", "\uFFFD");
  const fence = fenceFor(text);
  return [`**Job Result:** \`${id}\`${error ? " (error)" : ""}`, "", fence, ...text.split("\n"), fence];
}

/** Returns the last line of the last result of a call or job in a message; null if it has neither. */
function lastBlock({ segments }: Turn): number | null {
  const last = segments.findLast((segment) =>
    segment.kind === "tool_result" || (segment.kind === "text" && segment.job === true)
  );
  if (last?.kind !== "text") return last?.place?.end ?? null;
  // The empty lines below the result of a job belong to its text.
  return (last.place?.start ?? 0) + last.value.trimEnd().split("\n").length - 1;
}
