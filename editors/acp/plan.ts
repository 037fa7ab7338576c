// The calls of the last reply as the plan that clients show.

import type { PlanEntry, PlanEntryStatus } from "@agentclientprotocol/sdk";
import { isLifecycle } from "../../parser/text/status_words.ts";
import type { Call, Chat } from "../../parser/types.ts";

/** The calls of one turn, and which of them run. */
export class CallPlan {
  readonly #running = new Set<string>();
  #sent = "";

  /**
   * Returns the entries of the plan; null if the last reply has fewer than two calls, or if nothing changed.
   *
   * @param running id of a call that has just started
   */
  entries(chat: Chat, title: (call: Call) => string, running?: string): PlanEntry[] | null {
    if (running !== undefined) this.#running.add(running);
    const calls = chat.turns.findLast(({ role, calls }) => role === "Assistant" && calls.length > 0)?.calls ??
      [];
    if (calls.length < 2) return null;
    const entries = calls.map((call): PlanEntry => ({
      content: title(call),
      priority: "medium",
      status: this.#statusOf(chat, call.id),
    }));
    const text = JSON.stringify(entries);
    if (text === this.#sent) return null;
    this.#sent = text;
    return entries;
  }

  #statusOf(chat: Chat, id: string): PlanEntryStatus {
    const result = chat.result(id);
    if (result !== undefined && !isLifecycle(result.status)) return "completed";
    return this.#running.has(id) ? "in_progress" : "pending";
  }
}
