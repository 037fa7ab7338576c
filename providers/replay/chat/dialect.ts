// Imitation of the Chat Completions API for replay servers.

import { isObject } from "../../../base/is_object.ts";
import type { RequestView } from "../expect.ts";
import { type Dialect, type JsonObject, listOf, textOf } from "../dialect.ts";
import { replyFrames } from "./frames.ts";

export const chatCompletions: Dialect = {
  name: "chat",
  serves: (path) => path === "/v1/chat/completions",
  modelOf: ({ body }) => String(body.model),
  view: viewMessages,
  frames: replyFrames,
  errorBody: (_status, message) => ({ error: { message, type: "invalid_request_error" } }),
};

function viewMessages(body: JsonObject): RequestView {
  const messages = listOf(body.messages).filter(isObject);
  const results = new Map<string, { text: string; isError: boolean }>();
  for (const { role, tool_call_id: id, content } of messages) {
    if (role !== "tool") continue;
    const text = textOf(content);
    results.set(String(id), { text, isError: text.startsWith("Error:") });
  }
  return {
    system: textOf(messages.find(({ role }) => role === "system")?.content),
    user: textOf(messages.findLast(({ role }) => role === "user")?.content),
    results,
    tools: listOf(body.tools).filter(isObject)
      .map(({ function: tool }) => String(isObject(tool) ? tool.name : "")),
  };
}
