// The calls of a document without a final result, for the person who decides about them.

import { liveCalls } from "../../cycle/plan/open_calls.ts";
import { callNumbers } from "../../cycle/plan/targets.ts";
import { helperOf } from "../../parser/edits/result_block.ts";
import { isLifecycle } from "../../parser/text/status_words.ts";
import type { Call, Chat } from "../../parser/types.ts";
import type { ApprovalDecision } from "../../tools/approval/types.ts";
import type { CallSummary, OpenCall, OpenQuestions, WaitingHelper } from "../types.ts";

export interface CallSources {
  decide(call: Pick<Call, "id" | "name" | "input">): Promise<ApprovalDecision>;
  preview(call: Call): string;
  previewIsCut(call: Call): boolean;
  /** True if a call is running now, in this or another process. */
  isRunning(id: string): boolean;
  /** Who made the approval that no longer counts; null if it counts. */
  doubted(call: Call): Promise<"policy" | "person" | null>;
  /** Returns the helper in whose document a call waits. */
  helper(call: Call): Promise<WaitingHelper | null>;
  /** Returns what the server of a call asks; null if it asks nothing. */
  questions(call: Call): Promise<OpenQuestions | null>;
}

/** Lists the open calls in document order. */
export async function openCalls(chat: Chat, sources: CallSources): Promise<OpenCall[]> {
  const found: OpenCall[] = [];
  const numbers = callNumbers(chat);
  for (const call of liveCalls(chat)) {
    const result = chat.result(call.id);
    const status = result === undefined ? "open" : result.status;
    if (status !== "open" && !isLifecycle(status)) continue;
    const decided = await sources.decide(call);
    found.push({
      id: call.id,
      number: numbers.get(call.id)!,
      name: call.name,
      status: sources.isRunning(call.id) ? "running" : status,
      line: (result?.header ?? call.place).start,
      preview: sources.preview(call),
      hasText: result !== undefined && result.content !== "",
      previewIsCut: sources.previewIsCut(call),
      doubt: status === "approved" && result?.content === "" ? await doubtOf(call, decided, sources) : null,
      decided,
      helper: status === "pending" && result !== undefined && helperOf(result) !== null
        ? await sources.helper(call)
        : null,
      questions: await sources.questions(call),
    });
  }
  return found;
}

/** Returns the calls with some ids in one line each, in document order. */
export function summariesOf(
  chat: Chat,
  ids: readonly string[],
  preview: CallSources["preview"],
): CallSummary[] {
  const numbers = callNumbers(chat);
  const wanted = new Set(ids);
  return liveCalls(chat).filter(({ id }) => wanted.has(id))
    .map((call) => ({ id: call.id, number: numbers.get(call.id)!, preview: preview(call) }));
}

/** A call whose approval does not count waits, unless the policy approves it now. */
async function doubtOf(
  call: Call,
  { decision, detail }: ApprovalDecision,
  { doubted }: CallSources,
): Promise<string | null> {
  const by = await doubted(call);
  if (by === null || (by === "policy" && decision !== "require_approval")) return null;
  return (by === "policy" ? detail : undefined) ?? "it changed after its approval";
}
