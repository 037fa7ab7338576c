// The text changes that the steps of a plan stand for.

import type { ToolSettings } from "../../config/settings.ts";
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
import type { Chat } from "../../parser/types.ts";
import { errorBlock } from "../final_block.ts";
import type { Step } from "../plan/plan.ts";

/**
 * The edits of all steps that change the text, for one commit. Runs and sends change nothing by themselves.
 *
 * New blocks come first in the list: where one goes directly before a block that is replaced, both edits begin
 * at the same byte, and the insertion has to be applied before.
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
      case "demote":
        if (result !== undefined) changes.push(...setStatus(chat, result, "pending", style));
        break;
    }
  }
  return [...insertBlocks(chat, insertions), ...changes];
}
