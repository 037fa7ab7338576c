// Sends a document's content again to a client: messages, thinking, calls and their results.

import type { SessionUpdate, ToolCallStatus } from "@agentclientprotocol/sdk";
import type { ChatSession } from "../../agent/types.ts";
import { unescapeTurn } from "../../parser/edits/escape.ts";
import type { Result, Turn } from "../../parser/types.ts";
import { resultContent, toolCall } from "./tool_calls.ts";

/** Returns everything in a document that a client shows, in order. */
export async function* replay(session: ChatSession): AsyncGenerator<SessionUpdate> {
  const { chat } = session;
  for (const turn of chat.turns) {
    if (turn.role === "Assistant") yield* replyOf(session, turn);
    else if (turn.role === "You") {
      for (const segment of turn.segments) {
        if (segment.kind !== "text" || segment.value.trim() === "") continue;
        yield { sessionUpdate: "user_message_chunk", content: { type: "text", text: segment.value.trim() } };
      }
    }
  }
}

async function* replyOf(session: ChatSession, turn: Turn): AsyncGenerator<SessionUpdate> {
  for (const segment of unescapeTurn(session.chat, turn)) {
    if (segment.kind === "text" && segment.value.trim() !== "") {
      yield { sessionUpdate: "agent_message_chunk", content: { type: "text", text: segment.value } };
    } else if (segment.kind === "thinking" && segment.content.trim() !== "") {
      yield { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: segment.content } };
    } else if (segment.kind === "tool_use") {
      const result = session.chat.result(segment.id);
      const shown = await toolCall(session, segment);
      const content = result === undefined || statusOf(result) === "pending"
        ? shown.content
        : resultContent(result);
      yield { ...shown, sessionUpdate: "tool_call", status: statusOf(result), content };
    }
  }
}

function statusOf(result: Result | undefined): ToolCallStatus {
  if (result === undefined) return "pending";
  if (result.status === null) return "completed";
  return result.status === "error" ? "failed" : "pending";
}
