// Starts approved calls after checking again what may have changed since the approval.

import type { Call, Result } from "../../parser/types.ts";
import type { ApprovalDecision } from "../../tools/approval/types.ts";
import type { Runs } from "../execute/runs.ts";
import {
  changedSince,
  effectsOf,
  type PlanSources,
  recordedApproval,
  toolKind,
  type Tools,
} from "../plan/plan_inputs.ts";
import type { Step } from "../plan/types.ts";
import { DENIED } from "../plan/sentences.ts";
import type { DocumentStore, Journal } from "../types.ts";
import type { CycleState } from "./state.ts";

export interface StartParts {
  readonly store: Pick<DocumentStore, "chat">;
  readonly journal: Journal;
  readonly approvalOf: PlanSources["approvalOf"];
  readonly tools: Tools;
  readonly decide: PlanSources["decide"];
  readonly runs: Runs;
  readonly state: CycleState;
  /** True if the document may no longer run calls, such as after a change of its frontmatter. */
  isBlocked(): boolean;
  /** Carries out parts of a plan that change the text. */
  write(steps: readonly Step[]): Promise<unknown>;
}

export class Starts {
  readonly #parts: StartParts;

  constructor(parts: StartParts) {
    this.#parts = parts;
  }

  /** Starts an approved call; waits for a synchronous tool, which frees its slot. */
  async startApproved(id: string): Promise<void> {
    const { store, runs, state, tools, write } = this.#parts;
    // Writing a result reveals what other programs changed meanwhile. A call that changes nothing need not wait for
    // the write.
    if (effectsOf(tools, store.chat.call(id)?.name ?? "") === "writes") await runs.written();
    const asked = store.chat.call(id);
    const denial = asked === undefined ? null : await this.#denialOf(asked);
    if (asked !== undefined && await changedSince(this.#parts, asked) !== null) return;
    // If the call was edited meanwhile, the next step decides it again.
    const call = store.chat.call(id);
    const result = store.chat.result(id);
    if (!state.starting || this.#parts.isBlocked()) return;
    if (call === undefined || result === undefined || !isDecided(result)) return;
    if (call.name !== asked?.name || call.inputText !== asked.inputText) return;
    if (denial === null) return await this.start(call);
    const text = denial.forModel ?? DENIED;
    await write([{ do: "resolve", id, because: "denied", text, decided: denial }]);
  }

  /** Starts a call, and waits for a synchronous tool. */
  async start(call: Call): Promise<void> {
    const { runs, state, tools } = this.#parts;
    const started = await runs.start(call);
    if (!started.ok) state.fail(started.problem);
    else if (toolKind(tools.get(call.name)) === "sync") await started.value.answered;
  }

  /**
   * Returns policy's denial of a call that policy did not approve itself; null if policy does not deny it. The denial
   * applies no matter who wrote the status `approved`: the status may be older than the rule, or have come with the
   * document.
   */
  async #denialOf(call: Call): Promise<ApprovalDecision | null> {
    const approval = await recordedApproval(this.#parts, call.id);
    if (approval?.by === "policy" && approval.asked !== true) return null;
    const decided = await this.#parts.decide(call);
    return decided.decision === "deny" ? decided : null;
  }
}

/** True if a call may start: it is approved, or the person declined to answer its server. */
function isDecided({ status, content, questions }: Result): boolean {
  return content === "" && (status === "approved" || status === "rejected" && questions !== null);
}
