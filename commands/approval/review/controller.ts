// Reviews one document: shows what waits in it, and takes decisions that apply only to the call as it was shown. Opens
// the document for each view, and under its lock for each decision, so editors and other runs can continue during the
// dialogue.

import { openChat } from "../../../agent/open.ts";
import type { ChatSession, OpenCall, OpenOptions, ShownCall, WrittenRule } from "../../../agent/types.ts";
import { sameBytes } from "../../../base/bytes.ts";
import { failed, failure, type Outcome, type Problem, success } from "../../../base/problem.ts";
import { replaceInput, replaceInputText } from "../../../parser/edits/call_input.ts";
import type { Edit } from "../../../parser/edits/edit.ts";

/** Seconds to wait for another run that has locked the document. */
const WAIT = 2;

/** A change that was made, and how to undo it. */
export interface ReviewStep {
  /** Description for a person, such as "the approval of #2". */
  readonly what: string;
  readonly id: string;
  undo(): Promise<Problem | null>;
}

/**
 * The result of a decision. `changed` means that nothing was done, because the call is no longer what was shown;
 * `waits` is whether it still waits for a decision.
 */
export type Decided =
  | { readonly kind: "done"; readonly step: ReviewStep }
  | { readonly kind: "changed"; readonly waits: boolean };

/** What a document needs from the person: calls and parts to decide about. */
export interface Waiting {
  readonly calls: readonly OpenCall[];
  /** Number of calls for which no approval decision exists yet. */
  readonly unasked: number;
  /** Parts of the document that take effect only after the person confirms them. */
  readonly doubts: readonly string[];
}

export class ReviewController {
  readonly label: string;
  readonly #options: OpenOptions;

  /** The constructor opens nothing yet. */
  constructor(file: string, options: OpenOptions) {
    this.label = file;
    this.#options = options;
  }

  /** The calls that need a person's decision, in document order. */
  async waiting(): Promise<Outcome<Waiting>> {
    return await this.#withSession(async (session) => {
      const [blocker] = session.blockers;
      if (blocker !== undefined) return failure("first-block-invalid", blocker.message);
      const all = await session.calls();
      return success({
        calls: all.filter(isAsked),
        unasked: all.filter(({ status }) => status === "open").length,
        doubts: session.doubts,
      });
    });
  }

  /** Returns the call as it is now, read again from the document. */
  async show(id: string): Promise<Outcome<ShownCall>> {
    return await this.#withSession((session) => session.show(id));
  }

  approve(shown: ShownCall): Promise<Outcome<Decided>> {
    return this.#decide(shown, "approval", (session) => session.approve(shown.id));
  }

  reject(shown: ShownCall, message: string): Promise<Outcome<Decided>> {
    return this.#decide(shown, "rejection", (session) => session.reject(shown.id, message));
  }

  async edit(shown: ShownCall, input: Readonly<Record<string, unknown>>): Promise<Outcome<Decided>> {
    return await this.#bound(shown, async (session) => {
      const call = session.chat.call(shown.id)!;
      const before = call.inputText;
      const edit = replaceInput(session.chat, call, input);
      const problem = edit === null ? null : await session.edit([edit]);
      if (problem !== null) return failed(problem);
      const after = session.chat.call(shown.id)?.inputText ?? "";
      return success({
        kind: "done",
        step: {
          what: `the edit of #${shown.number}`,
          id: shown.id,
          undo: () => this.#restore(shown.id, (session) => inputBack(session, shown.id, before, after)),
        },
      });
    });
  }

  /** Proposes a rule that would approve the call again. If the person worded a rule, checks that rule instead. */
  async propose(shown: ShownCall, written?: WrittenRule) {
    return await this.#withSession((session) => session.proposeRule(shown.id, written));
  }

  /** Adds a rule for the document, valid for this session. */
  async addRule(rule: WrittenRule): Promise<Problem | null> {
    return problemOf(await this.#change((session) => session.addRule(rule)));
  }

  async removeRule(rule: WrittenRule): Promise<Problem | null> {
    return problemOf(await this.#change((session) => session.removeRule(rule)));
  }

  async #decide(
    shown: ShownCall,
    what: string,
    decide: (session: ChatSession) => Promise<Outcome<readonly string[]>>,
  ): Promise<Outcome<Decided>> {
    return await this.#bound(shown, async (session) => {
      const before = blockOf(session, shown.id);
      const decided = await decide(session);
      if (!decided.ok) return decided;
      const after = blockOf(session, shown.id);
      return success({
        kind: "done",
        step: {
          what: `the ${what} of #${shown.number}`,
          id: shown.id,
          undo: () => this.#restore(shown.id, (session) => blockBack(session, shown.id, before, after)),
        },
      });
    });
  }

  /** Runs `act` under the lock of the document, if the call is still the one that was shown. */
  async #bound(
    shown: ShownCall,
    act: (session: ChatSession) => Promise<Outcome<Decided>>,
  ): Promise<Outcome<Decided>> {
    return await this.#change(async (session) => {
      const now = await session.show(shown.id);
      if (!now.ok && now.problem.code !== "unknown-call") return now;
      if (now.ok && now.value.digest === shown.digest) return await act(session);
      const waits = (await session.calls()).some((call) => call.id === shown.id && isAsked(call));
      return success({ kind: "changed", waits });
    });
  }

  async #restore(
    id: string,
    back: (session: ChatSession) => Edit | null,
  ): Promise<Problem | null> {
    const restored = await this.#change(async (session): Promise<Outcome<void>> => {
      const edit = back(session);
      if (edit === null) {
        return failure("call-changed", `${id} has changed since, so nothing was undone.`);
      }
      const problem = await session.edit([edit]);
      return problem === null ? success(undefined) : failed(problem);
    });
    return problemOf(restored);
  }

  #withSession<T>(use: (session: ChatSession) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    return this.#with({ readOnly: true }, use);
  }

  #change<T>(use: (session: ChatSession) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    return this.#with({ wait: WAIT }, use);
  }

  async #with<T>(
    how: OpenOptions,
    use: (session: ChatSession) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const opened = await openChat(this.label, { ...this.#options, ...how });
    if (!opened.ok) return opened;
    await using session = opened.value;
    return await use(session);
  }
}

/** True if a person must decide here: the call is pending, or its approval does not count. */
function isAsked({ status, doubt, helper }: OpenCall): boolean {
  return helper === null && (status === "pending" || doubt !== null);
}

function blockOf(session: ChatSession, id: string): Uint8Array {
  const place = session.chat.result(id)?.place;
  return place === undefined ? new Uint8Array(0) : session.chat.slice(place.from, place.to);
}

/** Restores a block, unless it has changed since. */
function blockBack(session: ChatSession, id: string, before: Uint8Array, after: Uint8Array): Edit | null {
  const place = session.chat.result(id)?.place;
  if (place === undefined || !sameBytes(blockOf(session, id), after)) return null;
  return { from: place.from, to: place.to, insert: new TextDecoder().decode(before) };
}

function inputBack(session: ChatSession, id: string, before: string, after: string): Edit | null {
  const call = session.chat.call(id);
  return call === undefined || call.inputText !== after ? null : replaceInputText(session.chat, call, before);
}

function problemOf(outcome: Outcome<unknown>): Problem | null {
  return outcome.ok ? null : outcome.problem;
}
