// Imitation of OpenAI's Responses API for replay servers.

import { isObject } from "../../../base/is_object.ts";
import type { RequestView } from "../expect.ts";
import { type Dialect, joinTexts, type JsonObject, listOf } from "../dialect.ts";
import { replyFrames } from "./frames.ts";

export const responses: Dialect = {
  name: "openai",
  serves: (path) => path === "/v1/responses",
  modelOf: ({ body }) => String(body.model),
  view: viewItems,
  frames: replyFrames,
  errorBody: (_status, message) => ({
    error: { message, type: "invalid_request_error", param: null, code: null },
  }),
};

function viewItems(body: JsonObject): RequestView {
  const items = listOf(body.input).filter(isObject);
  const results = new Map<string, { text: string; isError: boolean }>();
  for (const { type, call_id: id, output } of items) {
    if (type !== "function_call_output") continue;
    const text = joinTexts(output);
    results.set(String(id), { text, isError: text.startsWith("Error:") });
  }
  return {
    system: joinTexts(items.find(({ role }) => role === "developer")?.content),
    user: joinTexts(items.findLast(({ role }) => role === "user")?.content),
    first: joinTexts(items.find(({ role }) => role === "user")?.content),
    results,
    tools: listOf(body.tools).filter(isObject).map(({ name }) => String(name)),
  };
}
