// One document under review: what waits in it, and decisions that hold only for what was shown. The document is opened
// for each look and under its lock for each decision, so that an editor and other runs go on beside the dialogue.

import { openChat } from "../../../agent/open.ts";
import type { ChatSession, OpenCall, OpenOptions, ShownCall, WrittenRule } from "../../../agent/types.ts";
import { sameBytes } from "../../../base/bytes.ts";
import { failed, failure, type Outcome, type Problem, success } from "../../../base/problem.ts";
import { replaceInput, replaceInputText } from "../../../parser/edits/call_input.ts";
import type { Edit } from "../../../parser/edits/edit.ts";

/** Seconds to wait for another run that has the document. */
const WAIT = 2;

/** Something that was done, and how it is taken back. */
export interface Step {
  /** What it was, for a person: "the approval of #2". */
  readonly what: string;
  /** The call it was about. */
  readonly id: string;
  undo(): Promise<Problem | null>;
}

/** How a decision came out: done, or not, because what was shown is not so any more. */
export type Decided =
  | { readonly kind: "done"; readonly step: Step }
  | { readonly kind: "changed" };

/** What waits in a document. */
export interface Waiting {
  readonly calls: readonly OpenCall[];
  /** Calls that nobody was asked about yet. */
  readonly unasked: number;
  /** What of the document counts only once the person confirms it. */
  readonly doubts: readonly string[];
}

/** One document under review. */
export class ReviewController {
  /** The document as the person named it. */
  readonly label: string;
  readonly #options: OpenOptions;

  /** Opens nothing yet. */
  constructor(file: string, options: OpenOptions) {
    this.label = file;
    this.#options = options;
  }

  /** The calls that a person has to decide about, in document order. */
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

  /** A call as it is now. */
  async show(id: string): Promise<Outcome<ShownCall>> {
    return await this.#withSession((session) => session.show(id));
  }

  approve(shown: ShownCall): Promise<Outcome<Decided>> {
    return this.#decide(shown, "approval", (session) => session.approve(shown.id));
  }

  reject(shown: ShownCall, message: string): Promise<Outcome<Decided>> {
    return this.#decide(shown, "rejection", (session) => session.reject(shown.id, message));
  }

  /** Writes another input into the call. */
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

  /** The rule that approves the call again; the person's own wording when it is given. */
  async propose(shown: ShownCall, written?: WrittenRule) {
    return await this.#withSession((session) => session.proposeRule(shown.id, written));
  }

  /** Lets a rule hold for the document until logout. */
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

  /** Does something about a call under the lock of its document, if it is still what was shown. */
  async #bound(
    shown: ShownCall,
    act: (session: ChatSession) => Promise<Outcome<Decided>>,
  ): Promise<Outcome<Decided>> {
    return await this.#change(async (session) => {
      const now = await session.show(shown.id);
      if (!now.ok && now.problem.code !== "unknown-call") return now;
      return now.ok && now.value.digest === shown.digest ? await act(session) : success({ kind: "changed" });
    });
  }

  async #restore(
    id: string,
    back: (session: ChatSession) => Edit | null,
  ): Promise<Problem | null> {
    const restored = await this.#change(async (session): Promise<Outcome<void>> => {
      const edit = back(session);
      if (edit === null) {
        return failure("call-changed", `${id} has changed since, so nothing was taken back.`);
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

/** Whether a person is asked about a call: it waits, or its approval is not taken for the person's word. */
function isAsked({ status, decided: { decision, source } }: OpenCall): boolean {
  return status === "pending" ||
    (status === "approved" && decision === "require_approval" &&
      source === "urn:flemma:approval:unconfirmed");
}

function blockOf(session: ChatSession, id: string): Uint8Array {
  const place = session.chat.result(id)?.place;
  return place === undefined ? new Uint8Array(0) : session.chat.slice(place.from, place.to);
}

/** Puts a block back as it was, unless it is not as it was left. */
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
