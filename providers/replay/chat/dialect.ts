// Imitation of the Chat Completions API for replay servers.

import { isObject } from "../../../base/is_object.ts";
import type { RequestView } from "../expect.ts";
import { type Dialect, joinTexts, type JsonObject, listOf } from "../dialect.ts";
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
    const text = joinTexts(content);
    results.set(String(id), { text, isError: text.startsWith("Error:") });
  }
  return {
    system: joinTexts(messages.find(({ role }) => role === "system")?.content),
    user: joinTexts(messages.findLast(({ role }) => role === "user")?.content),
    first: joinTexts(messages.find(({ role }) => role === "user")?.content),
    results,
    tools: listOf(body.tools).filter(isObject)
      .map(({ function: tool }) => String(isObject(tool) ? tool.name : "")),
  };
}
