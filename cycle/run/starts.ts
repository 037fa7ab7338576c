// Starts approved calls, each once all that may have changed since it was approved was looked at again.

import type { Call } from "../../parser/types.ts";
import type { Verdict } from "../../tools/approval/types.ts";
import type { Runs } from "../execute/runs.ts";
import { HARMLESS } from "../plan/harmless.ts";
import {
  changedSince,
  type PlanSources,
  recordedApproval,
  toolKind,
  type Tools,
} from "../plan/plan_inputs.ts";
import type { Step } from "../plan/types.ts";
import { DENIED } from "../plan/sentences.ts";
import type { DocumentStore, Journal } from "../types.ts";
import type { CycleState } from "./state.ts";

/** What calls are looked at and started with. */
export interface StartParts {
  readonly store: Pick<DocumentStore, "chat">;
  readonly journal: Journal;
  readonly approvalOf: PlanSources["approvalOf"];
  readonly tools: Tools;
  readonly decide: PlanSources["decide"];
  readonly runs: Runs;
  readonly state: CycleState;
  /** Takes steps that change the text. */
  write(steps: readonly Step[]): Promise<unknown>;
}

export class Starts {
  readonly #parts: StartParts;

  constructor(parts: StartParts) {
    this.#parts = parts;
  }

  /** Starts an approved call; a tool that answers at once is waited for, which frees its slot (5.3). */
  async startApproved(id: string): Promise<void> {
    const { store, runs, state, write } = this.#parts;
    // Writing a result shows what somebody changed meanwhile. For a call that changes nothing that need not be waited for.
    if (!HARMLESS.has(store.chat.call(id)?.name ?? "")) await runs.written();
    const asked = store.chat.call(id);
    const denial = asked === undefined ? null : await this.#denialOf(asked);
    // Somebody may have edited the call since the plan was made, or since policy was asked; the next press decides anew.
    const call = store.chat.call(id);
    const result = store.chat.result(id);
    if (!state.starting || call === undefined || result?.status !== "approved" || result.content !== "") {
      return;
    }
    if (call.name !== asked?.name || call.inputText !== asked.inputText) return;
    if (await changedSince(this.#parts, call) !== null) return;
    if (denial === null) return await this.start(call);
    const text = denial.forModel ?? DENIED;
    await write([{ do: "resolve", id, because: "denied", text, verdict: denial }]);
  }

  /** Starts a call, and waits for the tool that answers at once. */
  async start(call: Call): Promise<void> {
    const { runs, state, tools } = this.#parts;
    const started = await runs.start(call);
    if (!started.ok) state.fail(started.problem);
    else if (toolKind(tools.get(call.name)) === "sync") await started.value.answered;
  }

  /**
   * What policy says of a call that it did not approve itself; null unless it denies it. A denial holds whoever wrote the word
   * approved: it may have come with the document, or stand there from before the rule.
   */
  async #denialOf(call: Call): Promise<Verdict | null> {
    const approval = recordedApproval(this.#parts, call.id);
    if (approval?.by === "policy" && approval.asked !== true) return null;
    const verdict = await this.#parts.decide(call);
    return verdict.decision === "deny" ? verdict : null;
  }
}
