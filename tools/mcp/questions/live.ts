// Answers servers of the legacy protocol, which ask while a call runs and cannot wait for a person.

import {
  type AnsweredQuestion,
  type AskedState,
  isSameQuestion,
  readServerQuestion,
  type ServerAnswer,
} from "./read.ts";
import type { ServerAnswers } from "./answers.ts";

/** A running call, and what its server asked that is not answered yet. */
export interface LiveCall {
  /** The question that the person has to answer before the call is made again; null if there is none. */
  readonly asked: Omit<AskedState, "server"> | null;
  end(): void;
}

/** The questions of one connection. */
export class LiveQuestions {
  readonly #running = new Set<RunningCall>();

  /** Begins a call; `given` is what the person answered before. */
  begin(given: { readonly state: AskedState; readonly answers: ServerAnswers } | null): LiveCall {
    const call = new RunningCall(given, () => this.#running.delete(call));
    this.#running.add(call);
    return call;
  }

  /** Answers a question. Throws if nobody can be asked. */
  answer(params: unknown): ServerAnswer {
    const [call, ...others] = this.#running;
    if (call === undefined) throw new Error("flemma takes questions only while a tool runs");
    // The protocol does not say which call a question belongs to.
    if (others.length > 0) {
      throw new Error("flemma takes questions only while no other tool of this server runs");
    }
    return call.answer(params);
  }
}

class RunningCall implements LiveCall {
  readonly #answered: readonly AnsweredQuestion[];
  readonly end: () => void;
  asked: LiveCall["asked"] = null;

  constructor(
    given: { readonly state: AskedState; readonly answers: ServerAnswers } | null,
    end: () => void,
  ) {
    const now = Object.entries(given?.state.questions ?? {}).flatMap(([key, question]) => {
      const answer = given?.answers[key];
      return answer === undefined ? [] : [{ question, answer }];
    });
    this.#answered = [...given?.state.answered ?? [], ...now];
    this.end = end;
  }

  answer(params: unknown): ServerAnswer {
    const question = readServerQuestion(params);
    if (!question.ok) throw new Error(`The server ${question.problem}; flemma does not offer this.`);
    const known = this.#answered.find((each) => isSameQuestion(each.question, question.value));
    if (known !== undefined) return known.answer;
    // Only the first question is asked: the answer to it decides what the server asks next.
    this.asked ??= {
      repeats: true,
      questions: { question: question.value },
      requestState: null,
      answered: this.#answered,
    };
    return { action: "cancel" };
  }
}
