// The shared part of approve and reject: finds the calls, changes their status, suggests the next step.

import { joinNames } from "../../base/names.ts";
import type { CallSummary, CallTarget, ChatSession } from "../../agent/types.ts";
import type { Environment } from "../../base/environment.ts";
import { realPathOrNull } from "../../base/files.ts";
import { absolutePath, helperFolderOf } from "../../base/paths.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import type { Chat } from "../../parser/types.ts";
import { helperOf } from "../../parser/edits/result_block.ts";
import { waitsFor } from "../../parser/open_call.ts";
import { invalidAnswers } from "../../cycle/plan/refusals.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { formatCommand } from "../line/advice.ts";
import { suggestNextStep } from "../line/next_steps.ts";
import { refuse } from "../io/refuse.ts";
import { withDocument } from "../document/open.ts";
import { targetsOf } from "../line/targets.ts";

export interface Marking {
  /** The word for what was done, for example `Approved`. */
  readonly done: string;
  /** Marks calls; `file` is the document in suggested commands, null for piped text. */
  mark(
    session: ChatSession,
    targets: readonly CallTarget[],
    file: string | null,
  ): Promise<Outcome<readonly string[]>>;
}

/** Reports approved calls that still do not run because their block contains text. */
function filled(chat: Chat, ids: readonly string[]): string[] {
  return ids.flatMap((id) => {
    const result = chat.result(id);
    if (result === undefined || result.content === "") return [];
    return [waitsFor({ id, name: chat.call(id)?.name ?? "" }, result)];
  });
}

/** Reports approved calls that still do not run because the answers to their server cannot be sent. */
async function unanswered(
  session: ChatSession,
  ids: readonly string[],
  file: string | null,
): Promise<string[]> {
  // Few servers ask, and deciding about all calls takes longer than everything else.
  const asked = ids.filter((id) => (session.chat.result(id)?.questions ?? null) !== null);
  const calls = asked.length === 0 ? [] : await session.calls();
  return calls.flatMap(({ id, line, questions }) =>
    questions === null || questions.problem === null || !asked.includes(id) ? [] : [
      `${invalidAnswers(id, questions.problem).message} Change them below line ${line}, then: ${
        formatCommand("advance", file)
      }`,
    ]
  );
}

/** Reports approved calls whose helper waits, because the approval does not cover the helper's calls. */
function waitElsewhere(chat: Chat, ids: readonly string[], file: string | null): string[] {
  return ids.flatMap((id) => {
    const result = chat.result(id);
    const helper = result === undefined ? null : helperOf(result);
    return helper === null ? [] : [
      `${id} goes on once the calls of its helper ${helper} are decided: ${formatCommand("review", file)}`,
    ];
  });
}

/** Codes of problems about an unclear target, for which a list of the calls helps. */
const UNCLEAR: ReadonlySet<string> = new Set(["target-needed", "target-ambiguous", "unknown-call"]);

/** Returns one line per call: its number, what it would do, its id. */
function callLines(calls: readonly CallSummary[]): string[] {
  const width = Math.max(...calls.map(({ number }) => String(number).length));
  return calls.map(({ number, preview, id }) => `  ${String(number).padStart(width)}  ${preview}   ${id}`);
}

/**
 * Returns the invocation for the document of a helper if the targets have the form `NAME/CALL`. Fails if they name
 * calls of several documents.
 */
function inHelper(invocation: Invocation): Outcome<Invocation> {
  const { arguments: given, environment } = invocation;
  const [file, ...targets] = given.positionals;
  const other = targets.find((target) => isDocument(environment, target));
  if (file !== undefined && other !== undefined) {
    return failure(
      "usage",
      `${other} is a document, not a call of ${file}.`,
      `To decide about the calls of several documents: flemma review ${operands(file, ...targets)}`,
    );
  }
  const split = targets.map((target) => /^([a-z0-9-]{1,40})\/(.+)$/.exec(target));
  if (file === undefined || file === "-" || split.every((found) => found === null)) {
    return success(invocation);
  }
  const names = new Set(split.map((found) => found?.[1]));
  const [name] = names;
  if (names.size > 1 || name === undefined) {
    return failure(
      "usage",
      "The targets are calls of several documents.",
      "Name the calls of one helper at a time.",
    );
  }
  const document = `${helperFolderOf(file)}/${name}.chat`;
  const positionals = [document, ...split.map((found) => found![2]!)];
  return inHelper({ ...invocation, arguments: { ...given, positionals } });
}

/** True if a target is the path of a document, as if a pattern such as `*.chat` named the targets. */
function isDocument(environment: Environment, target: string): boolean {
  return target.endsWith(".chat") && realPathOrNull(absolutePath(environment, target)) !== null;
}

/** Marks the calls that the command line names. Runs nothing. */
export async function markCalls(outer: Invocation, marking: Marking): Promise<number> {
  const redirected = inHelper(outer);
  if (!redirected.ok) return refuse(outer, redirected.problem);
  const invocation = redirected.value;
  const { messages, arguments: given } = invocation;
  const options = {
    fragments: true,
    emit: (event: { readonly event: string; readonly message?: string }) => {
      if (event.event === "notice") messages.note(`flemma: ${event.message}`);
    },
  };
  return await withDocument(invocation, options, async ({ session, label, file, targets }) => {
    if (session.chat.turns.length === 0) {
      messages.say(`flemma: ${label}: the text has no message and no tool result block.`);
      return Exit.diagnostics;
    }
    const meant = targetsOf(targets, given, { exact: true });
    const marked = await marking.mark(session, meant, file);
    if (!marked.ok) {
      const { problem } = marked;
      const nothingWaits = problem.code === "no-pending-call" &&
        session.chat.calls.every(({ id }) => session.chat.result(id)?.status !== "pending");
      const next = nothingWaits ? suggestNextStep(session.chat, file) : problem.next;
      const exit = refuse(invocation, { ...problem, next });
      if (UNCLEAR.has(problem.code)) {
        const { chat } = session;
        const pending = chat.calls.map(({ id }) => id).filter((id) => chat.result(id)?.status === "pending");
        for (const line of callLines(await session.summaries(pending))) messages.say(line);
      }
      return exit;
    }
    const blocked = marking.done === "Approved"
      ? [...filled(session.chat, marked.value), ...await unanswered(session, marked.value, file)]
      : [];
    for (const sentence of blocked) messages.say(`flemma: ${sentence}`);
    if (blocked.length > 0) return Exit.person;
    for (const line of callLines(await session.summaries(marked.value))) messages.note(line);
    for (
      const sentence of marking.done === "Approved" ? waitElsewhere(session.chat, marked.value, file) : []
    ) {
      messages.note(`flemma: ${sentence}`);
    }
    const ids = joinNames(marked.value);
    messages.note(
      `${marking.done}: ${ids}. Nothing has run yet. Continue with: ${formatCommand("advance", file)}`,
    );
    return Exit.ok;
  });
}
