// Records the replies that a replay has given, to check that a loop of calls sends their thinking back unchanged.

import { isObject } from "../../../base/is_object.ts";
import { type JsonObject, listOf } from "../dialect.ts";

const MODIFIED =
  "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These " +
  "blocks must remain as they were in the original response.";

export class Replies {
  /** Order of thinking and calls in each reply that has both, by the id of its first call. */
  readonly #orders = new Map<string, readonly string[]>();
  /** Text of the last reply if it was paused. */
  #paused: string | null = null;

  add(blocks: readonly JsonObject[], stopReason?: string): void {
    this.#paused = stopReason === "pause_turn" ? textOf(blocks) : null;
    const call = blocks.find(({ type }) => type === "tool_use");
    const order = orderOf(blocks);
    if (call !== undefined && order.some(isThinking)) this.#orders.set(String(call.id), order);
  }

  /** True if a conversation ends with the paused reply, and this reply is unchanged. */
  resumes(messages: readonly JsonObject[]): boolean {
    const last = messages.at(-1);
    return last?.role === "assistant" && this.#paused !== null &&
      textOf(listOf(last.content).filter(isObject)) === this.#paused;
  }

  /**
   * Checks the thinking of the open loop of calls. The request must contain all of this thinking unchanged, or none of
   * it.
   */
  problems(messages: readonly JsonObject[]): readonly string[] {
    let some = false;
    let none = false;
    for (const [index, message] of openLoop(messages)) {
      const blocks = listOf(message.content).filter(isObject);
      const call = blocks.find(({ type }) => type === "tool_use");
      const expected = this.#orders.get(String(call?.id));
      if (expected === undefined) continue;
      const order = orderOf(blocks);
      if (!order.some(isThinking)) none = true;
      else if (order.join("\n") !== expected.join("\n")) return [`messages.${index}: ${MODIFIED}`];
      else some = true;
    }
    return some && none ? [`messages: ${MODIFIED}`] : [];
  }
}

/** Returns the assistant messages since the last user message with their indexes. */
function openLoop(messages: readonly JsonObject[]): readonly (readonly [number, JsonObject])[] {
  const spoke = messages.findLastIndex(({ role, content }) =>
    role === "user" && (typeof content === "string" || !listOf(content).some(isResult))
  );
  return messages.flatMap((message, index) =>
    index > spoke && message.role === "assistant" ? [[index, message] as const] : []
  );
}

function isResult(block: unknown): boolean {
  return isObject(block) && block.type === "tool_result";
}

function orderOf(blocks: readonly JsonObject[]): readonly string[] {
  return blocks.flatMap(({ type, signature, data, id }) =>
    type === "thinking"
      ? [`thinking ${signature}`]
      : type === "redacted_thinking"
      ? [`thinking ${data}`]
      : type === "tool_use"
      ? [`call ${id}`]
      : []
  );
}

function textOf(blocks: readonly JsonObject[]): string {
  return blocks.map(({ text }) => typeof text === "string" ? text.trim() : "").join("");
}

function isThinking(step: string): boolean {
  return step.startsWith("thinking ");
}
