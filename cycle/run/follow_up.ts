// Decides what follows a step, a call or a reply: the next step, or waiting for the user.

import type { Chat } from "../../parser/types.ts";
import type { ToolSettings } from "../../config/settings.generated.ts";
import type { Announcements } from "../execute/announcements.ts";
import type { Runs } from "../execute/runs.ts";
import { summarizeOpenCalls } from "../plan/open_calls.ts";
import type { PlanEnd } from "../plan/types.ts";
import { blockedBy, lastWord } from "../plan/refusals.ts";
import { createStop, createStopAfterReply, createStopAt, createStopBy, stopForBatch } from "./stop.ts";
import type { CompletedReply, DocumentStore, SendOutcome } from "../types.ts";
import type { CycleState } from "./state.ts";

export interface FollowUpParts {
  readonly store: Pick<DocumentStore, "chat">;
  readonly settings: Pick<ToolSettings, "cursor_after_result">;
  readonly runs: Pick<Runs, "size">;
  readonly state: CycleState;
  readonly announcements: Announcements;
}

/** Decides what follows an event. Each method returns true if the next step is due. */
export class FollowUp {
  readonly #parts: FollowUpParts;

  constructor(parts: FollowUpParts) {
    this.#parts = parts;
  }

  get #chat(): Chat {
    return this.#parts.store.chat;
  }

  /** Handles the end of a step that sends no request. */
  rest(at: PlanEnd, ids: readonly string[]): boolean {
    const { state, announcements } = this.#parts;
    switch (at) {
      case "ran":
      case "resolved":
        return this.check();
      case "protected":
        state.react({ kind: "protected" });
        announcements.cursorTo(ids);
        return false;
      case "pending":
        announcements.waiting(ids);
        return false;
      case "last-word":
        state.stop(createStopBy(lastWord(this.#chat), { line: this.#chat.lineCount }));
        return false;
      case "answered":
        state.stop(createStop("answered", { line: this.#chat.lineCount }));
        return false;
      case "batched":
        state.stop(stopForBatch(this.#chat));
        return false;
      case "running":
        announcements.notice("busy", "Tools are still running; advance again when they are done.");
        return false;
    }
  }

  /** Returns what the autopilot does once no call runs. */
  check(): boolean {
    const { runs, state, announcements } = this.#parts;
    if (runs.size > 0 || state.phase.at !== "resting") return false;
    const found = summarizeOpenCalls(this.#chat);
    const effect = state.react({
      kind: "check",
      check: {
        open: found.open.length > 0,
        actionable: found.approved.length + found.resolvable.length > 0,
        blocked: found.pending.length + found.protected.length > 0,
        yielded: state.yielded.length > 0,
      },
    });
    if (effect === "pause") {
      if (found.pending.length > 0) announcements.waiting(found.pending);
      else announcements.cursorTo(found.protected);
    }
    return effect === "advance";
  }

  /** Asks the host to move the cursor to a result, unless the autopilot continues. */
  showResult(id: string): void {
    const { state, settings: { cursor_after_result: where }, announcements } = this.#parts;
    const result = this.#chat.result(id);
    if (state.autopilot.state === "armed" || result === undefined || where === "stay") return;
    announcements.cursor(where === "result" ? result.header.start : result.turn.place.end + 1);
  }

  /**
   * Handles the end of a request that was neither cancelled nor replaced. Returns true if its reply has calls and the autopilot
   * continues.
   */
  sent(outcome: Exclude<SendOutcome, { kind: "cancelled" | "changed" }>): boolean {
    const { state, announcements } = this.#parts;
    switch (outcome.kind) {
      case "completed":
        for (const warning of outcome.warnings) announcements.notice("request-warning", warning);
        return this.#replied(outcome.reply);
      case "blocked":
        state.stop(createStop("diagnostics", {
          line: outcome.diagnostics[0]?.start ?? null,
          problem: blockedBy(outcome.diagnostics),
        }));
        return false;
      case "batched":
        state.stop(createStop("batched"));
        return false;
      case "failed":
        return state.failed(outcome.problem);
    }
  }

  #replied(reply: CompletedReply): boolean {
    const { state, announcements } = this.#parts;
    announcements.cursor(this.#chat.lineCount);
    // An empty reply adds no message, so the calls of the last message do not belong to it.
    const calls = reply === "empty"
      ? []
      : this.#chat.turns.findLast((turn) => turn.role === "Assistant")?.calls ?? [];
    const ids = calls.map(({ id }) => id);
    const effect = state.react({ kind: "response", hasCalls: calls.length > 0 });
    if (effect === "advance") return true;
    if (effect === "limit") {
      const { maxTurns } = state.autopilot;
      const message =
        `The autopilot stopped after ${maxTurns} replies with tool calls (tools.autopilot.max_turns).`;
      announcements.notice("turn-limit", message);
      state.stop(createStopAt(this.#chat, "turn-limit", ids));
    } else {
      state.stop(createStopAfterReply(reply, calls.length > 0, { ids, line: this.#chat.lineCount }));
    }
    return false;
  }
}
