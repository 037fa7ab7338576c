// The commands that change a status and run nothing: approve and reject (tool-cycle 4.4).

import type { Problem } from "../../base/problem.ts";
import type { ToolSettings } from "../../config/settings.ts";
import { isPlaceholder, placeholderStyle, rejectWith, setStatus } from "../../parser/edits/result_block.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import type { Chat, Result } from "../../parser/types.ts";
import { unknownCall } from "../refusals.ts";
import type { Writer } from "./writer.ts";

/**
 * Marks a placeholder as approved by the person and binds that to the text of its call (S5). A body stays,
 * which protects the block from running.
 */
export function markApproved(writer: Writer, settings: ToolSettings, id: string): Promise<Problem | null> {
  return writer.commit(async (chat) => {
    const result = placeholder(chat, id);
    if (!("kind" in result)) return result;
    const call = chat.call(id);
    // A fragment of a document holds blocks without their calls: there is no text to bind to.
    const problem = call === undefined ? null : await writer.recordApproval(call, "person");
    return problem ?? setStatus(chat, result, "approved", placeholderStyle(chat, settings.status_style));
  });
}

/** Marks a placeholder as rejected; a message that is not empty replaces its body, which is kept. */
export function markRejected(
  writer: Writer,
  settings: ToolSettings,
  id: string,
  message: string,
): Promise<Problem | null> {
  return writer.commit(async (chat): Promise<Problem | Edit[]> => {
    const result = placeholder(chat, id);
    if (!("kind" in result)) return result;
    const style = placeholderStyle(chat, settings.status_style);
    if (message === "") return setStatus(chat, result, "rejected", style);
    if (result.content !== "" && result.content !== message) {
      const why = `The message took the place of the body of ${id}`;
      const problem = await writer.keepBody(id, result.content, why);
      if (problem !== null) return problem;
    }
    return [rejectWith(chat, result, message, style)];
  });
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
