// The person's answers to what servers asked: checks them, and hands them to the tools of the servers.

import { answersCheck, type PlanSources } from "../../cycle/plan/plan_inputs.ts";
import { callHash } from "../../cycle/plan/call_hash.ts";
import type { AnswersCheck } from "../../cycle/plan/types.ts";
import type { DocumentStore, Journal } from "../../cycle/types.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { placeholderStyle, setQuestions } from "../../parser/edits/result_block.ts";
import type { Call, Result } from "../../parser/types.ts";
import { failed, type Outcome, success } from "../../base/problem.ts";
import { invalidAnswers } from "../../cycle/plan/refusals.ts";
import { QUESTIONS_GONE } from "../../cycle/plan/sentences.ts";
import type { PersonsAnswers } from "../../tools/definition.ts";
import type { AskedState } from "../../tools/mcp/questions/read.ts";
import type { WrittenAnswers } from "../../tools/mcp/questions/write.ts";
import type { OpenQuestions, QuestionForm } from "../types.ts";

/** The answers in a document. */
export interface DocumentAnswers {
  readonly check: NonNullable<PlanSources["checkAnswers"]>;
  /** Returns what the person answered in a call that is about to run; undefined if its server asked nothing. */
  given(call: Call): Promise<PersonsAnswers | undefined>;
  /** Returns what the server of a call asks the person; null if it asks nothing. */
  open(call: Call): Promise<OpenQuestions | null>;
  /** Returns the edit that writes answers into the block of a call. Fails with `questions-gone` or `invalid-answers`. */
  edit(id: string, answers: WrittenAnswers): Promise<Outcome<Edit>>;
}

/** What the answers are read from. */
interface AnswersSubject {
  readonly store: Pick<DocumentStore, "chat">;
  readonly journal: Journal;
}

export function answersOf({ store, journal }: AnswersSubject): DocumentAnswers {
  /** What is kept of a call; null if its server asked nothing, or if the call was changed since. */
  const kept = async (call: Call): Promise<string | null> => {
    const asked = journal.asked(call.id);
    return asked !== null && asked.hash === await callHash(call) ? asked.state : null;
  };
  const checkAnswers: DocumentAnswers["check"] = async (call, result) => {
    const state = await kept(call);
    return state === null ? null : await check(state, result);
  };
  const forms = async (call: Call): Promise<readonly QuestionForm[]> => {
    const state = await readKept(await kept(call));
    return Object.entries(state?.questions ?? {}).map(([key, question]) => ({
      key,
      message: question.message,
      schema: question.mode === "form" ? question.schema : null,
      url: question.mode === "url" ? question.url : null,
    }));
  };
  return {
    check: checkAnswers,
    given: async (call) => {
      const state = await kept(call);
      const result = store.chat.result(call.id);
      if (state === null || result === undefined || result.questions === null) return undefined;
      return { answers: result.status === "rejected" ? null : result.questions, state };
    },
    open: async (call) => {
      const result = store.chat.result(call.id);
      if (result === undefined || result.questions === null) return null;
      const answers = await answersCheck(call, result, { journal, checkAnswers });
      const problem = answers === null || answers.can === "send" ? null : answers.why;
      return { text: result.questions, problem, forms: await forms(call) };
    },
    edit: async (id, answers) => {
      const { chat } = store;
      const [call, result] = [chat.call(id), chat.result(id)];
      const isOpen = call !== undefined && result !== undefined && result.questions !== null;
      const state = isOpen ? await readKept(await kept(call)) : null;
      if (!isOpen || state === null) return failed({ code: "questions-gone", message: QUESTIONS_GONE });
      const { writeQuestions } = await import("../../tools/mcp/questions/write.ts");
      const { readAnswers } = await import("../../tools/mcp/questions/answers.ts");
      const text = writeQuestions(state, answers);
      const read = await readAnswers(state, text);
      if (!read.ok) return failed(invalidAnswers(id, read.problem));
      return success(setQuestions(chat, result, text, "pending", placeholderStyle(chat, "auto")));
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
