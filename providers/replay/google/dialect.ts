// Imitation of Gemini's streamGenerateContent for replay servers, in both the Gemini API and Vertex AI.

import { isObject } from "../../../base/is_object.ts";
import type { RequestView } from "../expect.ts";
import { type Dialect, joinTexts, type JsonObject, listOf } from "../dialect.ts";
import { modelOf, servesGoogle } from "./address.ts";
import { replyFrames } from "./frames.ts";

export const generateContent: Dialect = {
  name: "google",
  serves: servesGoogle,
  modelOf: ({ path }) => modelOf(path),
  view: viewContents,
  frames: replyFrames,
  errorBody: (status, message) => ({ error: { code: status, message, status: "INVALID_ARGUMENT" } }),
};

/** Keys results by id, or by tool name if they have no id. Of several results with one name, the last one counts. */
function viewContents(body: JsonObject): RequestView {
  const contents = listOf(body.contents).filter(isObject);
  const results = new Map<string, { text: string; isError: boolean }>();
  for (const { parts } of contents) {
    for (const part of listOf(parts).filter(isObject)) {
      const { functionResponse: answer } = part;
      if (!isObject(answer) || !isObject(answer.response)) continue;
      const { output, error } = answer.response;
      const result = { text: String(output ?? error ?? ""), isError: error !== undefined };
      for (const key of [answer.id, answer.name]) if (typeof key === "string") results.set(key, result);
    }
  }
  const { systemInstruction: system } = body;
  return {
    system: isObject(system) ? joinTexts(system.parts) : "",
    user: joinTexts(contents.findLast(({ role }) => role === "user")?.parts),
    first: joinTexts(contents.find(({ role }) => role === "user")?.parts),
    results,
    tools: listOf(body.tools).filter(isObject).flatMap((tool) => listOf(tool.functionDeclarations))
      .filter(isObject).map(({ name }) => String(name)),
  };
}
