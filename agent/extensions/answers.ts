// The person's answers to what servers asked: checks them, and hands them to the tools of the servers.

import type { PlanSources } from "../../cycle/plan/plan_inputs.ts";
import { callHash } from "../../cycle/plan/call_hash.ts";
import type { AnswersCheck } from "../../cycle/plan/types.ts";
import type { DocumentStore, Journal } from "../../cycle/types.ts";
import type { Call, Result } from "../../parser/types.ts";
import { failed, type Outcome, success } from "../../base/problem.ts";
import { invalidAnswers } from "../../cycle/plan/refusals.ts";
import { QUESTIONS_GONE } from "../../cycle/plan/sentences.ts";
import type { PersonsAnswers } from "../../tools/definition.ts";
import type { AskedState } from "../../tools/mcp/questions/read.ts";
import type { WrittenAnswers } from "../../tools/mcp/questions/write.ts";
import type { QuestionForm } from "../types.ts";

/** The answers in a document. */
export interface DocumentAnswers {
  readonly check: NonNullable<PlanSources["checkAnswers"]>;
  /** Returns what the person answered in a call that is about to run; undefined if its server asked nothing. */
  given(call: Call): Promise<PersonsAnswers | undefined>;
  /** Returns what the server of a call asks; empty if nothing is known of it. */
  forms(call: Call): Promise<readonly QuestionForm[]>;
  /** Returns the text of the questions with these answers. Fails with `invalid-answers`. */
  write(call: Call, answers: WrittenAnswers): Promise<Outcome<string>>;
}

/** What the answers are read from. */
interface AnswersSubject {
  readonly store: Pick<DocumentStore, "chat">;
  readonly journal: Pick<Journal, "asked">;
}

export function answersOf({ store, journal }: AnswersSubject): DocumentAnswers {
  /** What is kept of a call; null if its server asked nothing, or if the call was changed since. */
  const kept = async (call: Call): Promise<string | null> => {
    const asked = journal.asked(call.id);
    return asked !== null && asked.hash === await callHash(call) ? asked.state : null;
  };
  return {
    check: async (call, result) => {
      const state = await kept(call);
      return state === null ? null : await check(state, result);
    },
    given: async (call) => {
      const state = await kept(call);
      const result = store.chat.result(call.id);
      if (state === null || result === undefined || result.questions === null) return undefined;
      return { answers: result.status === "rejected" ? null : result.questions, state };
    },
    forms: async (call) => {
      const state = await readKept(await kept(call));
      return Object.entries(state?.questions ?? {}).map(([key, question]) => ({
        key,
        message: question.message,
        schema: question.mode === "form" ? question.schema : null,
        url: question.mode === "url" ? question.url : null,
      }));
    },
    write: async (call, answers) => {
      const state = await readKept(await kept(call));
      if (state === null) return failed({ code: "questions-gone", message: QUESTIONS_GONE });
      const { writeQuestions } = await import("../../tools/mcp/questions/write.ts");
      const { readAnswers } = await import("../../tools/mcp/questions/answers.ts");
      const text = writeQuestions(state, answers);
      const read = await readAnswers(state, text);
      return read.ok ? success(text) : failed(invalidAnswers(call.id, read.problem));
    },
  };
}

async function readKept(kept: string | null): Promise<AskedState | null> {
  if (kept === null) return null;
  const { readState } = await import("../../tools/mcp/questions/read.ts");
  return readState(kept);
}

async function check(kept: string, { status, questions }: Result): Promise<AnswersCheck | null> {
  const state = await readKept(kept);
  if (state === null) return null;
  // A server that cannot wait got an answer already: nobody decided. Calling its tool again would only repeat that.
  if (status === "rejected") return questions === null || state.repeats ? null : { can: "send" };
  if (questions === null) {
    return { can: "wait", why: "the questions were deleted. Undo that, or reject the call." };
  }
  const { readAnswers } = await import("../../tools/mcp/questions/answers.ts");
  const read = await readAnswers(state, questions);
  return read.ok ? { can: "send" } : { can: "wait", why: read.problem };
}
