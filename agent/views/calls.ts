// The calls of a document without a final result, for the person who decides about them.

import { liveCalls } from "../../cycle/plan/open_calls.ts";
import { callNumbers } from "../../cycle/plan/targets.ts";
import { isLifecycle } from "../../parser/text/status_words.ts";
import type { Call, Chat } from "../../parser/types.ts";
import type { ApprovalDecision } from "../../tools/approval/types.ts";
import type { OpenCall } from "../types.ts";

export interface CallSources {
  decide(call: Pick<Call, "id" | "name" | "input">): Promise<ApprovalDecision>;
  preview(call: Call): string;
  previewIsCut(call: Call): boolean;
  /** True if a call is running now, in this or another process. */
  isRunning(id: string): boolean;
}

/** Lists the open calls in document order. */
export async function openCalls(chat: Chat, sources: CallSources): Promise<OpenCall[]> {
  const found: OpenCall[] = [];
  const numbers = callNumbers(chat);
  for (const call of liveCalls(chat)) {
    const result = chat.result(call.id);
    const status = result === undefined ? "open" : result.status;
    if (status !== "open" && !isLifecycle(status)) continue;
    found.push({
      id: call.id,
      number: numbers.get(call.id)!,
      name: call.name,
      status: sources.isRunning(call.id) ? "running" : status,
      line: (result?.header ?? call.place).start,
      preview: sources.preview(call),
      hasText: result !== undefined && result.content !== "",
      previewIsCut: sources.previewIsCut(call),
      decided: await sources.decide(call),
    });
  }
  return found;
}
