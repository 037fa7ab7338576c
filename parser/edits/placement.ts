// Places new result blocks: below their calls and in the order of the calls.

import { type FinalBlock, finalLines, replaceBlock } from "./result_block.ts";
import type { Edit } from "./edit.ts";
import { fenceClose, fenceOpen } from "../text/lines.ts";
import type { Call, Chat, Result, Turn } from "../types.ts";

/** A block to insert where the result of `call` belongs. */
export interface Insertion {
  /** The answered call. */
  readonly call: Call;
  /** Lines of the block from its header through its closing fence. */
  readonly lines: readonly string[];
}

/**
 * Places new blocks. All edits refer to the current document, but the result is the same as inserting one block after
 * the other: blocks at the same place form one edit.
 * Only for calls without a result. If the calling message ends inside an open fence, its closing fence is written
 * first, because the new `@You:` would otherwise be part of the code.
 * @param chat the document
 * @param insertions the blocks and the calls they answer
 * @returns the edits of all blocks
 */
export function insertBlocks(chat: Chat, insertions: readonly Insertion[]): Edit[] {
  const byTurn = new Map<number, Insertion[]>();
  for (const insertion of insertions) {
    const group = byTurn.get(insertion.call.turn.index);
    if (group === undefined) byTurn.set(insertion.call.turn.index, [insertion]);
    else group.push(insertion);
  }
  const edits: Edit[] = [];
  for (const [index, group] of byTurn) {
    const turn = chat.turns[index];
    if (turn === undefined) throw new RangeError(`turn ${index} is not part of this document`);
    group.sort((a, b) => a.call.place.from - b.call.place.from);
    const next = chat.turns[index + 1];
    if (next?.role !== "You") edits.push(afterTurn(chat, turn, group));
    else if (next.results.length === 0) edits.push(afterMarker(chat, next, group));
    else edits.push(...besideResults(chat, turn, next, group));
  }
  return edits;
}

/**
 * Writes the finished block of a call. If the document has a block with the id of the call, replaces the last one;
 * otherwise inserts a new block.
 */
export function writeResult(chat: Chat, call: Call, block: FinalBlock): Edit[] {
  const result = chat.result(call.id);
  if (result !== undefined) return [replaceBlock(chat, result, block)];
  return insertBlocks(chat, [{ call, lines: finalLines(call.id, block) }]);
}

function afterTurn(chat: Chat, turn: Turn, group: readonly Insertion[]): Edit {
  const closing = turn.index === chat.turns.length - 1 ? openFence(chat, turn) : null;
  return insertAfter(chat, turn.place.end, [
    ...(closing === null ? [] : [closing]),
    "",
    "@You:",
    "",
    ...joined(group),
  ]);
}

function afterMarker(chat: Chat, next: Turn, group: readonly Insertion[]): Edit {
  const marker = next.place.start;
  const textFollows = marker < next.place.end && chat.lineText(marker + 1).trim() !== "";
  return insertAfter(chat, marker, ["", ...joined(group), ...(textFollows ? [""] : [])]);
}

function besideResults(chat: Chat, turn: Turn, next: Turn, group: readonly Insertion[]): Edit[] {
  const anchors = new Map<Result | null, Insertion[]>();
  for (const insertion of group) {
    const anchor = predecessor(turn, next, insertion.call);
    const same = anchors.get(anchor);
    if (same === undefined) anchors.set(anchor, [insertion]);
    else same.push(insertion);
  }
  const edits: Edit[] = [];
  for (const [anchor, same] of anchors) {
    if (anchor !== null) {
      edits.push(insertAfter(chat, anchor.place.end, ["", ...joined(same)]));
      continue;
    }
    const first = next.results[0];
    if (first === undefined) continue;
    const from = chat.lineStart(first.place.start);
    edits.push({ from, to: from, insert: [...joined(same), "", ""].join(chat.eol) });
  }
  return edits;
}

/**
 * Of the results in `next` whose calls come before `call`, returns the one whose call is closest to it; null if there
 * is none.
 */
function predecessor(turn: Turn, next: Turn, call: Call): Result | null {
  let closest: Result | null = null;
  let position = -1;
  for (const result of next.results) {
    const caller = turn.calls.findLast((other) => other.id === result.id);
    if (caller === undefined || caller.place.from >= call.place.from) continue;
    if (caller.place.from < position) continue;
    closest = result;
    position = caller.place.from;
  }
  return closest;
}

/**
 * If a message leaves a fence open, returns the line that closes the fence; otherwise null. Applies the fence rule by
 * which documents are split into messages.
 */
function openFence(chat: Chat, turn: Turn): string | null {
  let open = 0;
  for (let line = turn.place.start + 1; line <= turn.place.end; line++) {
    const bytes = chat.slice(chat.lineStart(line), chat.lineEnd(line));
    if (open === 0) open = fenceOpen(bytes, 0, bytes.length);
    else if (fenceClose(bytes, 0, bytes.length, open)) open = 0;
  }
  return open === 0 ? null : "`".repeat(open);
}

function joined(group: readonly Insertion[]): string[] {
  return group.flatMap(({ lines }, position) => position === 0 ? lines : ["", ...lines]);
}

/**
 * Inserts lines below a line. The last inserted line gets the old line end, so a missing final line end stays missing.
 */
function insertAfter(chat: Chat, line: number, lines: readonly string[]): Edit {
  const at = chat.lineEnd(line);
  return { from: at, to: at, insert: chat.eol + lines.join(chat.eol) };
}
