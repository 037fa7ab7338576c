// The text of a helper's document: its beginning, the question, and what a killed run left of a reply. Pure.

import type { Edit } from "../../../parser/edits/edit.ts";
import type { Chat, Segment } from "../../../parser/types.ts";
import type { Outcome } from "../../../base/problem.ts";
import { askNext } from "../../conversation/question.ts";
import { literalText } from "../../conversation/quoted.ts";

/** Instructions to every helper, after those of its preset. */
const TASK =
  "Another document asks you. Only your last message is passed on to it, so make that message complete.";

const PERSONALITY = '{{ include("urn:flemma:personality:coding-assistant") }}';

/** Instructions to a helper in a worktree. They name neither folder nor branch, so that all such helpers share them. */
const IN_WORKTREE =
  "You work in a git worktree of your own, on a branch of your own. Commit what you change.";

/** Returns the system message of a helper. */
export function helperInstructions(
  system: string | undefined,
  { tags, worktree = false }: { readonly tags: boolean; readonly worktree?: boolean },
): string {
  const own = system ?? (tags ? PERSONALITY : null);
  const task = worktree ? `${TASK} ${IN_WORKTREE}` : TASK;
  return own === null ? task : `${own}\n\n${task}`;
}

/**
 * Returns the edit that writes the question. The question of a model is plain text: tags, references and headers in it
 * have no effect.
 *
 * @param files paths to attach, relative to the folder of the document
 */
export function writeQuestion(
  chat: Chat,
  question: string,
  { files, tags }: { readonly files: readonly string[]; readonly tags: boolean },
): Outcome<Edit> {
  const references = files.map((path) => `@${path.split("/").map(encodeURIComponent).join("/")}`);
  return askNext(chat, [literalText(question, { tags }), ...references].join("\n\n"));
}

/** True if a turn from this one on contains a question. */
export function isAsked(chat: Chat, turn: number): boolean {
  return chat.turns.slice(turn).some(({ role, segments }) => role === "You" && !segments.every(isBlank));
}

/** Returns the index of the turn that the next question will be written to. */
export function nextTurn(chat: Chat): number {
  const last = chat.turns.at(-1);
  return last?.role === "You" && last.segments.every(isBlank) ? last.index : chat.turns.length;
}

/** True if the model has answered the last question: its reply is complete, and a new message may begin. */
export function isAnswered(chat: Chat, turn: number): boolean {
  const last = chat.turns.at(-1);
  const before = chat.turns.at(-2);
  return last?.role === "You" && last.segments.every(isBlank) && before?.role === "Assistant" &&
    before.calls.length === 0 && isAsked(chat, turn) && before.index > turn;
}

/**
 * Returns the edit that removes what a killed run left of a reply, so that the model is asked again. None of its calls
 * has run. Returns null if the last reply is complete.
 *
 * @param unfinished ids of calls in replies that did not end
 */
export function removeUnfinished(chat: Chat, unfinished: ReadonlySet<string>): Edit | null {
  const last = chat.turns.at(-1);
  if (last?.role !== "Assistant") return null;
  const isOpen = last.calls.length === 0 || last.calls.some(({ id }) => unfinished.has(id));
  const hasResult = last.calls.some(({ id }) => chat.result(id) !== undefined);
  return isOpen && !hasResult ? { from: last.place.from, to: chat.byteLength, insert: "" } : null;
}

function isBlank(segment: Segment): boolean {
  return segment.kind === "text" && segment.value.trim() === "";
}

/** True if a call or a question in a helper's document waits for a person. */
export function waitsForPerson(chat: Chat): boolean {
  return chat.calls.some(({ id }) => {
    const result = chat.result(id);
    return result === undefined || (result.status === "pending" && result.content === "") ||
      result.status === "approved";
  });
}
