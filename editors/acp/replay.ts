// Sends a document's content again to a client: messages, thinking, calls and their results.

import type { SessionUpdate, ToolCallStatus } from "@agentclientprotocol/sdk";
import type { ChatSession } from "../../agent/types.ts";
import { unescapeTurn } from "../../parser/edits/escape.ts";
import type { Chat, Result, Turn } from "../../parser/types.ts";
import { resultContent, toolCall } from "./tool_calls.ts";

/** Returns everything in a document that a client shows, in order. */
export async function* replay(
  session: ChatSession,
  options: { readonly whole?: boolean } = {},
): AsyncGenerator<SessionUpdate> {
  const { chat } = session;
  const messages = new MessageIds();
  for (const turn of chat.turns) {
    if (turn.role === "Assistant") {
      yield* replyOf(session, turn, { ...options, messageId: messages.reply });
      messages.replied();
    } else if (isQuestion(turn)) {
      const messageId = messages.ask();
      for (const segment of turn.segments) {
        if (segment.kind !== "text" || segment.value.trim() === "") continue;
        const content = { type: "text" as const, text: segment.value.trim() };
        yield { sessionUpdate: "user_message_chunk", messageId, content };
      }
    }
  }
}

/** True for a message of the person that contains text. */
function isQuestion({ role, segments }: Turn): boolean {
  return role === "You" && segments.some((segment) => segment.kind === "text" && segment.value.trim() !== "");
}

/** Ids of the messages of a document: the same whenever the document is shown. */
export class MessageIds {
  #questions = 0;
  #replies = 0;

  /** Starts after the last question of a document. */
  static after(chat: Pick<Chat, "turns">): MessageIds {
    const ids = new MessageIds();
    ids.#questions = chat.turns.filter(isQuestion).length;
    return ids;
  }

  /** Returns the id of the last question. */
  get question(): string {
    return `m${this.#questions}`;
  }

  /** Returns the id of the present reply. */
  get reply(): string {
    return `m${this.#questions}.${this.#replies + 1}`;
  }

  /** Counts a question, and returns its id. */
  ask(): string {
    this.#questions++;
    this.#replies = 0;
    return this.question;
  }

  /** Counts a complete reply. */
  replied(): void {
    this.#replies++;
  }
}

async function* replyOf(
  session: ChatSession,
  turn: Turn,
  { messageId, whole }: { readonly messageId: string; readonly whole?: boolean },
): AsyncGenerator<SessionUpdate> {
  for (const segment of unescapeTurn(session.chat, turn)) {
    if (segment.kind === "text" && segment.value.trim() !== "") {
      yield {
        sessionUpdate: "agent_message_chunk",
        messageId,
        content: { type: "text", text: segment.value },
      };
    } else if (
      (segment.kind === "thinking" || segment.kind === "server_tool") && segment.content.trim() !== ""
    ) {
      yield {
        sessionUpdate: "agent_thought_chunk",
        messageId,
        content: { type: "text", text: segment.content },
      };
    } else if (segment.kind === "tool_use") {
      const result = session.chat.result(segment.id);
      const shown = await toolCall(session, segment, { whole });
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
