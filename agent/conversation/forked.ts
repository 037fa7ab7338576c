// A conversation up to one of its turns, as a document that goes another way from there. Pure.

import { failure, type Outcome, success } from "../../base/problem.ts";
import { applyEdits, type Edit } from "../../parser/edits/edit.ts";
import { openTurn } from "../../parser/edits/turn.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat, Result, Turn } from "../../parser/types.ts";
import { hasWords } from "./cut.ts";

/** Where a conversation forks: behind the turn at a line, behind the person's message of that number, or where it rests. */
export type Fork =
  | { readonly kind: "line"; readonly line: number }
  | { readonly kind: "turn"; readonly turn: number }
  | { readonly kind: "last" };

/** What a fork holds. */
export interface Forked {
  readonly bytes: Uint8Array;
  /** The last line of the old document that it holds. */
  readonly line: number;
}

/**
 * The document up to the end of a turn, ready for what the person says next. Calls without a final result are cut off with
 * the rest of their turn, and so is what stands for them below.
 *
 * @param fork where; by default behind the last reply that nothing of is missing
 * @returns the new document. Fails with `no-such-turn`, whose message tells which there are.
 */
export function forked(chat: Chat, fork: Fork): Outcome<Forked> {
  const last = turnOf(chat, fork);
  if (!last.ok) return last;
  const { to, end: line } = last.value.place;
  const part = parse(chat.slice(0, to));
  const cut = parse(applyEdits(part.bytes, unfinished(part)));
  if (cut.turns.at(-1)?.role !== "Assistant") return success({ bytes: cut.bytes, line });
  const next = `${openTurn(cut, "You")}\n`;
  const insert = cut.eol === "\n" ? next : next.replaceAll("\n", cut.eol);
  const { byteLength: end } = cut;
  return success({ bytes: applyEdits(cut.bytes, [{ from: end, to: end, insert }]), line });
}

function turnOf(chat: Chat, fork: Fork): Outcome<Turn> {
  if (chat.turns.length === 0) return failure("no-such-turn", "The document holds no message.");
  if (fork.kind === "line") {
    const found = chat.turns.find(({ place }) => place.start <= fork.line && fork.line <= place.end);
    const first = chat.turns[0]!.place.start;
    return found === undefined
      ? failure(
        "no-such-turn",
        `No message stands at line ${fork.line}.`,
        `Messages stand in lines ${first} to ${chat.lineCount}.`,
      )
      : success(found);
  }
  if (fork.kind === "turn") {
    const asked = chat.turns.filter(hasWords);
    const found = asked[fork.turn - 1];
    return found === undefined
      ? failure(
        "no-such-turn",
        `There is no message ${fork.turn} of yours.`,
        `The document holds ${asked.length}; they are counted from 1.`,
      )
      : success(found);
  }
  const replied = chat.turns.findLast((turn) => turn.role === "Assistant" && isWhole(turn));
  return success(replied ?? chat.turns.at(-1)!);
}

/** Whether nothing of a reply is missing: it has no calls, and was not cut off. */
function isWhole(turn: Turn): boolean {
  return turn.calls.length === 0 && !turn.segments.some(({ kind }) => kind === "aborted");
}

/** Takes out calls without a final result, each with the rest of its turn, and the blocks that stand for results to come. */
function unfinished(part: Chat): Edit[] {
  const isFinal = (result: Result | undefined) =>
    result !== undefined && (result.status === null || result.status === "error");
  const edits: Edit[] = [];
  for (const turn of part.turns) {
    const open = turn.calls.find(({ id }) => !isFinal(part.result(id)));
    if (open !== undefined) edits.push({ from: open.place.from, to: turn.place.to, insert: "" });
    for (const result of turn.results) {
      const isCutOff = open !== undefined && part.call(result.id)?.turn === turn;
      if (isFinal(result) || isCutOff) continue;
      const to = result.place.end >= part.lineCount ? part.byteLength : part.lineStart(result.place.end + 1);
      edits.push({ from: result.place.from, to: Math.min(to, turn.place.to), insert: "" });
    }
  }
  return edits;
}
