// Messages after a run: how it ended and what to do next.

import { joinNames } from "../../base/names.ts";
import type { Problem } from "../../base/problem.ts";
import { cutToWidth } from "../../base/width.ts";
import { namesOfPending } from "../../agent/views/next_need.ts";
import type { Stop, StopReason } from "../../cycle/types.ts";
import { isPlaceholder } from "../../parser/edits/result_block.ts";
import type { Chat } from "../../parser/types.ts";
import { compactAdvice, formatCommand } from "../line/advice.ts";
import {
  decisionAdvice,
  lastWordSentence,
  suggestAfterProblem,
  suggestNextStep,
} from "../line/next_steps.ts";

/** A message for the person: `say` is shown even with `--quiet`, `note` is not, `problem` is an error. */
export type Words =
  | { readonly say: string }
  | { readonly note: string }
  | { readonly problem: Problem };

/** Facts about a finished run that the messages need. */
export interface EndedRun {
  readonly stop: Stop;
  readonly chat: Chat;
  /** Returns the document on disk. If a write failed, advice must fit that text, because the next run reads it. */
  readonly onDisk: () => Chat;
  /** The file as commands name it; null for piped text. */
  readonly file: string | null;
  /** Prefix of lines about the document. */
  readonly label: string;
  readonly command: string;
}

/**
 * Returns messages about a finished run. The ids of calls that a person must look at are reported even with `--quiet`.
 */
export function lastWords(run: EndedRun): readonly Words[] {
  return BY_REASON[run.stop.reason](run);
}

const BY_REASON: Readonly<Record<StopReason, (run: EndedRun) => readonly Words[]>> = {
  "done": (run) => {
    const ending = run.stop.problem?.message ?? "The reply is complete.";
    const note = `${ending} To continue, write below the last @You:, then: ${advance(run)}`;
    return [run.stop.problem === undefined ? { note } : { say: note }];
  },
  "cut": (run) => {
    // A reply for which there was no room cannot be continued in this document.
    const next = run.stop.problem === undefined
      ? `Continue it with: ${advance(run)} --continue, or write below the last @You:`
      : continueSmaller(run);
    return [{ note: `The reply is incomplete. ${next}` }];
  },
  "answered": (run) => {
    const words = `There is nothing to do. Write below the last @You:, then: ${advance(run)}`;
    // The person asked for a request, so a message must say that none was sent.
    return [run.command === "send" ? { say: words } : { note: words }];
  },
  "last-word": ({ file, stop }) => [
    { say: `flemma: ${lastWordSentence(file)}` },
    ...(stop.problem?.details ?? []).map((detail) => ({ say: `  ${detail}` })),
  ],
  "stepped": ({ chat, stop, file }) => [
    ...outcomes(chat, stop.ids).map((note) => ({ note })),
    { note: suggestNextStep(chat, file) },
  ],
  "throttled": (run) => [{ note: `Continue with: ${advance(run)}` }],
  "unanswered": (run) => {
    const { ids } = run.stop;
    return [{
      say:
        `${counted(ids)} (${joinNames(ids)}) ${
          ids.length === 1 ? "has" : "have"
        } no result yet, and a request ` +
        `needs all results. Continue with: ${advance(run)}`,
    }];
  },
  "pending": ({ chat, stop: { ids }, file }) => {
    const which = ids.length > 1 ? ` (${joinNames(ids)})` : "";
    return [{
      say: `${counted(ids)} ${ids.length === 1 ? "waits" : "wait"} for you${which}: ` +
        decisionAdvice(namesOfPending(chat, ids), file),
    }];
  },
  "protected": ({ stop: { ids, line } }) => [{
    say: `${counted(ids)} ${ids.length === 1 ? "is" : "are"} approved, but there is text in the block (${
      joinNames(ids)
    }, line ${line}). Delete the text to run the call, or write pending to send the text as its result.`,
  }],
  "turn-limit": (run) => [{
    say: `Stopped before ${counted(run.stop.ids)} (${joinNames(run.stop.ids)}). Continue with: ${
      advance(run)
    }`,
  }],
  "batched": problemOf,
  "repeats": problemOf,
  "budget": problemOf,
  "hook": problemOf,
  "hook-limit": problemOf,
  "context-full": (run) => {
    const { problem } = run.stop;
    return problem === undefined ? [] : [{ problem: { ...problem, next: continueSmaller(run) } }];
  },
  "yield": (run) => {
    const { ids } = run.stop;
    return [{
      say: `${counted(ids)} (${joinNames(ids)}) ${ids.length === 1 ? "needs" : "need"} you. ` +
        `Continue with: ${advance(run)}`,
    }];
  },
  "cancelled": ({ chat, file }) => [{ note: `Interrupted. ${suggestNextStep(chat, file)}` }],
  "diagnostics": ({ stop: { problem, line }, label }) =>
    problem === undefined
      ? []
      : [{ say: `flemma: ${line === null ? "" : `${label}:${line}: `}${problem.message}` }],
  "empty": problemOf,
  "conflict": problemOf,
  "failed": failureOf,
  "limited": failureOf,
};

function failureOf(run: EndedRun): readonly Words[] {
  const { problem } = run.stop;
  if (problem === undefined) return [];
  if (problem.code === TOO_LONG) return [{ problem: { ...problem, next: continueSmaller(run) } }];
  const way = wayOnFrom(problem, run);
  return [{ problem }, ...way === null ? [] : [{ say: `  ${way}` }]];
}

function problemOf({ stop: { problem } }: EndedRun): readonly Words[] {
  return problem === undefined ? [] : [{ problem }];
}

/** Returns advice after a failure whose own advice is not enough. */
function wayOnFrom(problem: Problem, { chat, onDisk, file }: EndedRun): string | null {
  if (problem.code === "write-failed") return suggestNextStep(onDisk(), file);
  return problem.code.startsWith("provider-") ? suggestAfterProblem(problem, chat, file) : null;
}

/** Code of the error that a conversation is too long for the model. */
const TOO_LONG = "provider-context-overflow";

/** The only advice for a full context window: every other request of the document would fail too. */
function continueSmaller({ file }: EndedRun): string {
  return `Continue in a smaller document: ${compactAdvice(file)}`;
}

function advance({ file }: EndedRun): string {
  return formatCommand("advance", file);
}

function counted(ids: readonly string[]): string {
  return ids.length === 1 ? "1 call" : `${ids.length} calls`;
}

/** Returns the first words of each result, one line per call that ran. */
function outcomes(chat: Chat, ids: readonly string[]): string[] {
  return ids.flatMap((id) => {
    const result = chat.result(id);
    if (result === undefined || isPlaceholder(result)) return [];
    const firstOutput = result.content.split("\n").find((line) => line.trim() !== "") ?? "no output";
    const what = `${chat.call(id)?.name ?? "the call"} (${id})`;
    const end = result.status === "error" ? "failed" : "is done";
    // A colon at the end would announce a list that only the document shows.
    return [
      `${what} ${end}: ${
        cutToWidth(firstOutput.trim().replace(/:$/, "."), 100)
      }   line ${result.header.start}`,
    ];
  });
}
