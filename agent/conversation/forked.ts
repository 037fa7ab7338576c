// Forks a conversation: copies it up to the end of one turn into a new document. Pure.

import { failure, type Outcome, success } from "../../base/problem.ts";
import { applyEdits, type Edit } from "../../parser/edits/edit.ts";
import { openTurn } from "../../parser/edits/turn.ts";
import { parse } from "../../parser/mod.ts";
import { isLifecycle } from "../../parser/text/status_words.ts";
import type { Chat, Result, Turn } from "../../parser/types.ts";
import { hasWords } from "./cut.ts";

/**
 * Where to fork: after the turn at a line, after the person's message with a number (from 1), or after the last
 * complete reply.
 */
export type Fork =
  | { readonly kind: "line"; readonly line: number }
  | { readonly kind: "turn"; readonly turn: number }
  | { readonly kind: "last" };

export interface Forked {
  readonly bytes: Uint8Array;
  /** The last line of the old document that the fork contains. */
  readonly line: number;
}

/**
 * Copies the document up to the end of a turn, ready for the person's next message. Removes every call without a final
 * result, together with the rest of its turn. Also removes the blocks of unfinished results.
 *
 * @param fork where; for `last` without a complete reply, after the last turn
 * @returns the new document. Fails with `no-such-turn`; the problem says which turns exist.
 */
export function forkChat(chat: Chat, fork: Fork): Outcome<Forked> {
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
  if (chat.turns.length === 0) return failure("no-such-turn", "The document has no messages.");
  if (fork.kind === "line") {
    const found = chat.turns.find(({ place }) => place.start <= fork.line && fork.line <= place.end);
    const first = chat.turns[0]!.place.start;
    return found === undefined
      ? failure(
        "no-such-turn",
        `Line ${fork.line} is not part of a message.`,
        `The messages are in lines ${first} to ${chat.lineCount}.`,
      )
      : success(found);
  }
  if (fork.kind === "turn") {
    const asked = chat.turns.filter(hasWords);
    const found = asked[fork.turn - 1];
    return found === undefined
      ? failure(
        "no-such-turn",
        `You have no message ${fork.turn} in this document.`,
        `Your messages are counted from 1; the last is ${asked.length}.`,
      )
      : success(found);
  }
  const replied = chat.turns.findLast((turn) => turn.role === "Assistant" && isWhole(turn));
  return success(replied ?? chat.turns.at(-1)!);
}

/** True if a reply is complete: it has no calls and was not cut off. */
function isWhole(turn: Turn): boolean {
  return turn.calls.length === 0 && !turn.segments.some(({ kind }) => kind === "aborted");
}

/**
 * Returns edits that cut each turn before its first call without a final result, and edits that remove the blocks of
 * unfinished results.
 */
function unfinished(part: Chat): Edit[] {
  const isFinal = (result: Result | undefined) => result !== undefined && !isLifecycle(result.status);
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
