// Approves and rejects calls: changes their status and runs nothing.

import { failed, failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { ToolSettings } from "../../config/settings.generated.ts";
import { isPlaceholder, placeholderStyle, rejectWith, setStatus } from "../../parser/edits/result_block.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import type { Chat, Result } from "../../parser/types.ts";
import { unknownCall } from "../plan/refusals.ts";
import type { Writer } from "./writer.ts";

/**
 * Marks placeholders as approved by the user, all or none, and binds the approvals to the texts of their calls. An
 * existing body stays; it prevents the block from running.
 */
export function markApproved(
  writer: Writer,
  settings: ToolSettings,
  ids: readonly string[],
): Promise<Problem | null> {
  return writer.commit(async (chat): Promise<Outcome<Edit[]>> => {
    const found = placeholders(chat, ids);
    if (!found.ok) return found;
    const results = found.value;
    // In a fragment of a document, blocks may have no calls. For such a block there is no call text to bind the
    // approval to.
    const calls = results.map(({ id }) => chat.call(id)).filter((call) => call !== undefined);
    const problem = await writer.recordDecisions(calls.map((call) => ({ call, by: "person" })));
    if (problem !== null) return failed(problem);
    await writer.forgetReported(calls);
    const style = placeholderStyle(chat, settings.status_style);
    return success(results.flatMap((result) => setStatus(chat, result, "approved", style)));
  });
}

/** Marks placeholders as rejected, all or none; a non-empty message replaces their bodies, which are saved. */
export function markRejected(
  writer: Writer,
  settings: ToolSettings,
  ids: readonly string[],
  message: string,
): Promise<Problem | null> {
  return writer.commit(async (chat): Promise<Outcome<Edit[]>> => {
    const found = placeholders(chat, ids);
    if (!found.ok) return found;
    const results = found.value;
    await writer.recordWithdrawn(results.flatMap(({ id }) => chat.call(id) ?? []));
    const style = placeholderStyle(chat, settings.status_style);
    if (message === "") {
      return success(results.flatMap((result) => setStatus(chat, result, "rejected", style)));
    }
    for (const { id, content } of results) {
      if (content === "" || content === message) continue;
      const problem = await writer.keepBody(
        id,
        content,
        `Your message replaced the text in the block of ${id}`,
      );
      if (problem !== null) return failed(problem);
    }
    return success(results.map((result) => rejectWith(chat, result, message, style)));
  });
}

/** Returns the placeholder of each id, or the reason why an id has none. */
function placeholders(chat: Chat, ids: readonly string[]): Outcome<Result[]> {
  const found: Result[] = [];
  for (const id of new Set(ids)) {
    const result = placeholder(chat, id);
    if (!result.ok) return result;
    found.push(result.value);
  }
  return success(found);
}

function placeholder(chat: Chat, id: string): Outcome<Result> {
  const result = chat.result(id);
  if (result === undefined) {
    if (chat.call(id) === undefined) return failed(unknownCall(id));
    return failure(
      "no-result-block",
      `The call ${id} has no result block yet.`,
      "Advance first; this creates the block.",
    );
  }
  if (isPlaceholder(result)) return success(result);
  return failure("already-completed", `The call ${id} already has its result.`);
}
