// The edits of a plan, and the decisions to record before them.

import type { ToolSettings } from "../../config/settings.generated.ts";
import {
  finalLines,
  placeholderLines,
  placeholderStyle,
  replaceBlock,
  setStatus,
  stripStatus,
} from "../../parser/edits/result_block.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { insertBlocks, type Insertion } from "../../parser/edits/placement.ts";
import type { Call, Chat } from "../../parser/types.ts";
import { errorBlock } from "../plan/final_block.ts";
import type { Step } from "../plan/types.ts";
import { type CallDecision, QUESTION } from "./writer.ts";

/**
 * Returns the edits of all parts that change the text, for one commit. Runs and sends change no text. Insertions come
 * first: an insertion directly before a replaced block begins at the same byte, and must be applied before it.
 */
export function stepEdits(chat: Chat, steps: readonly Step[], settings: ToolSettings): Edit[] {
  const style = placeholderStyle(chat, settings.status_style);
  const insertions: Insertion[] = [];
  const changes: Edit[] = [];
  for (const step of steps) {
    if (!("id" in step) || step.id === undefined) continue;
    const call = chat.call(step.id);
    const result = chat.result(step.id);
    if (call === undefined) continue;
    switch (step.do) {
      case "place":
        if (result !== undefined) break;
        insertions.push({ call, lines: placeholderLines(step.id, step.status, style) });
        break;
      case "resolve": {
        const block = errorBlock(step.text);
        if (result === undefined) insertions.push({ call, lines: finalLines(step.id, block) });
        else changes.push(replaceBlock(chat, result, block));
        break;
      }
      case "strip":
        if (result !== undefined) changes.push(...stripStatus(chat, result));
        break;
      case "go-on":
        if (result !== undefined) changes.push(...setStatus(chat, result, "approved", style));
        break;
      case "demote":
        if (result !== undefined) changes.push(...setStatus(chat, result, "pending", style));
        break;
    }
  }
  return [...insertBlocks(chat, insertions), ...changes];
}

/** Decisions about calls in the document, and questions to the user. */
export function decisionsIn(steps: readonly Step[], chat: Chat): CallDecision[] {
  return steps.flatMap((step) => {
    const call = "id" in step && step.id !== undefined ? chat.call(step.id) : undefined;
    const decision = call === undefined ? null : decisionOf(step);
    return call === undefined || decision === null ? [] : [{ ...decision, call }];
  });
}

/** Calls that wait for the user after the steps, whether or not their blocks are new. */
export function waitingIn(steps: readonly Step[], chat: Chat): Call[] {
  const ids = steps.flatMap((step) => {
    if (step.do === "place" || step.do === "demote") return [step.id];
    if (step.do !== "rest" || step.at !== "pending") return [];
    // A call that waits for something else than a decision stays approved.
    return step.ids.filter((id) => chat.result(id)?.status !== "approved");
  });
  return [...new Set(ids)].flatMap((id) => chat.call(id) ?? []);
}

function decisionOf(step: Step): Omit<CallDecision, "call"> | null {
  switch (step.do) {
    case "place":
      if (step.status === "approved") return { by: "policy", source: step.decided.source };
      return step.decided.bound ? QUESTION : null;
    case "confirm":
      return { by: "policy", source: step.decided.source };
    case "demote":
      // From here on, only the user can approve the call, because the user sees its current text.
      return QUESTION;
    default:
      return null;
  }
}
