// The commands that change a status and run nothing: approve and reject (tool-cycle 4.4).

import type { Problem } from "../../base/problem.ts";
import type { ToolSettings } from "../../config/settings.ts";
import { isPlaceholder, placeholderStyle, rejectWith, setStatus } from "../../parser/edits/result_block.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import type { Chat, Result } from "../../parser/types.ts";
import { unknownCall } from "../refusals.ts";
import type { Writer } from "./writer.ts";

/**
 * Marks placeholders as approved by the person, all or none, and binds that to the texts of their calls (S5). A body
 * stays, which protects the block from running.
 */
export function markApproved(
  writer: Writer,
  settings: ToolSettings,
  ids: readonly string[],
): Promise<Problem | null> {
  return writer.commit(async (chat): Promise<Problem | Edit[]> => {
    const results = placeholders(chat, ids);
    if ("code" in results) return results;
    for (const { id } of results) {
      const call = chat.call(id);
      // A fragment of a document holds blocks without their calls: there is no text to bind to.
      const problem = call === undefined ? null : await writer.recordApproval(call, "person");
      if (problem !== null) return problem;
    }
    const style = placeholderStyle(chat, settings.status_style);
    return results.flatMap((result) => setStatus(chat, result, "approved", style));
  });
}

/** Marks placeholders as rejected, all or none; a message that is not empty replaces their bodies, which are kept. */
export function markRejected(
  writer: Writer,
  settings: ToolSettings,
  ids: readonly string[],
  message: string,
): Promise<Problem | null> {
  return writer.commit(async (chat): Promise<Problem | Edit[]> => {
    const results = placeholders(chat, ids);
    if ("code" in results) return results;
    const style = placeholderStyle(chat, settings.status_style);
    if (message === "") return results.flatMap((result) => setStatus(chat, result, "rejected", style));
    for (const { id, content } of results) {
      if (content === "" || content === message) continue;
      const problem = await writer.keepBody(id, content, `The message took the place of the body of ${id}`);
      if (problem !== null) return problem;
    }
    return results.map((result) => rejectWith(chat, result, message, style));
  });
}

/** The placeholders of all ids, or why one of them has none. */
function placeholders(chat: Chat, ids: readonly string[]): Result[] | Problem {
  const found: Result[] = [];
  for (const id of new Set(ids)) {
    const result = placeholder(chat, id);
    if (!("kind" in result)) return result;
    found.push(result);
  }
  return found;
}

function placeholder(chat: Chat, id: string): Result | Problem {
  const result = chat.result(id);
  if (result === undefined) {
    if (chat.call(id) === undefined) return unknownCall(id);
    return {
      code: "no-result-block",
      message: `The call ${id} has no result block yet.`,
      next: "Advance first: it puts the block there.",
    };
  }
  if (isPlaceholder(result)) return result;
  return { code: "already-completed", message: `The call ${id} has its result already.` };
}
