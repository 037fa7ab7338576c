// Conversion of a scripted reply into events of the Responses stream.

import type { ReplyBlock, ScriptedReply } from "../script.ts";
import { isObject } from "../../../base/is_object.ts";
import { type Asked, type JsonObject, listOf, pieces } from "../dialect.ts";
import { isScriptedUse, useOf } from "../search.ts";
import { readSealed, writeSealed } from "../sealed.ts";

type Event = { readonly type: string } & JsonObject;

/** Returns the frames of a reply; ids are derived from its number. */
export function replyFrames(scripted: ScriptedReply, asked: Asked, number: number): readonly string[] {
  const model = String(asked.body.model);
  const blocks = scripted.reply ?? [];
  const outputs = blocks.map((block, index) => {
    const id = `${number}_${index}`;
    return outputItem(block, id, writeSealed(id, model, asked));
  });
  const response = {
    id: `resp_${number}`,
    object: "response",
    model,
    status: "in_progress",
    error: null,
    output: [],
    input_transformations: removedReasoning(asked.body, model),
  };
  const events: Event[] = [
    { type: "response.created", response },
    ...blocks.flatMap((block, index) => blockEvents(block, outputs[index]!, index)),
    lastEvent(scripted, response, outputs),
  ];
  return events.map((event, index) =>
    `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`
  );
}

/** Returns the API's report on reasoning that it removed from the request, because another model made it. */
function removedReasoning({ input }: JsonObject, model: string): readonly JsonObject[] {
  return listOf(input).filter(isObject).flatMap(({ type, id, encrypted_content: content }) => {
    const sealed = type === "reasoning" ? readSealed(content) : null;
    return sealed === null || sealed.model === model || id === undefined
      ? []
      : [{ id, action: "removed", reason: "model" }];
  });
}

function lastEvent(scripted: ScriptedReply, response: JsonObject, output: readonly JsonObject[]): Event {
  const { fault, stop_reason: reason, usage = {} } = scripted;
  if (fault?.error !== undefined) {
    return { type: "error", code: fault.error.type, message: fault.error.message, param: null };
  }
  const { input_tokens: input = 0, output_tokens: made = 0, cache_read_input_tokens: read = 0 } = usage;
  const counts = {
    input_tokens: input + read,
    input_tokens_details: { cached_tokens: read },
    output_tokens: made,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + read + made,
  };
  if (reason === "max_tokens" || reason === "content_filter") {
    const details = { reason: reason === "max_tokens" ? "max_output_tokens" : reason };
    return {
      type: "response.incomplete",
      response: { ...response, status: "incomplete", incomplete_details: details, output, usage: counts },
    };
  }
  return {
    type: "response.completed",
    response: { ...response, status: "completed", output, usage: counts },
  };
}

/** Converts a block into the complete item of its last event. */
function outputItem(block: ReplyBlock, id: string, seal: string): JsonObject {
  if ("text" in block) {
    const annotations = (block.cites ?? []).map(({ url, title }) => ({
      type: "url_citation",
      url,
      title,
      start_index: 0,
      end_index: block.text.length,
    }));
    const content = [{ type: "output_text", text: block.text, annotations }];
    return { id: `msg_${id}`, type: "message", role: "assistant", status: "completed", content };
  }
  if ("tool_use" in block) {
    const { id: call_id, name, input = {}, input_text } = block.tool_use;
    const text = input_text ?? JSON.stringify(input);
    return { id: `fc_${id}`, type: "function_call", status: "completed", call_id, name, arguments: text };
  }
  if (isScriptedUse(block)) {
    const { tool, asked = "", pages = [], error } = useOf(block, 0);
    const sources = pages.map(({ url }) => ({ type: "url", url }));
    const action = tool === "web_search"
      ? { type: "search", query: asked, sources }
      : { type: "open_page", url: asked };
    return {
      id: `ws_${id}`,
      type: "web_search_call",
      status: error === undefined ? "completed" : "failed",
      action,
    };
  }
  const summary = "thinking" in block && block.thinking !== ""
    ? [{ type: "summary_text", text: block.thinking }]
    : [];
  const sealed = "thinking" in block ? block.signature ?? seal : block.redacted;
  return { id: `rs_${id}`, type: "reasoning", summary, encrypted_content: sealed };
}

function blockEvents(block: ReplyBlock, item: JsonObject, output_index: number): readonly Event[] {
  const { id: item_id } = item;
  const where = { item_id, output_index };
  const begun = {
    ...item,
    status: "in_progress",
    content: [],
    summary: [],
    arguments: "",
    encrypted_content: undefined,
  };
  const deltas = (type: string, text: string, rest: JsonObject): readonly Event[] =>
    pieces(text).map((delta) => ({ type, ...where, ...rest, delta }));
  return [
    { type: "response.output_item.added", output_index, item: begun },
    ...("text" in block
      ? [
        ...deltas("response.output_text.delta", block.text, { content_index: 0 }),
        { type: "response.output_text.done", ...where, content_index: 0, text: block.text },
      ]
      : "thinking" in block
      ? deltas("response.reasoning_summary_text.delta", block.thinking, { summary_index: 0 })
      : "tool_use" in block
      ? deltas("response.function_call_arguments.delta", String(item.arguments), {})
      : []),
    { type: "response.output_item.done", output_index, item },
  ];
}
