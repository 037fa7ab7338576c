// Conversion of a scripted reply into chunks of a Chat Completions stream.

import type { ReplyBlock, ScriptedReply } from "../script.ts";
import { isScriptedUse, searchesIn } from "../search.ts";
import { type Asked, type JsonObject, pieces } from "../dialect.ts";

const REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  refusal: "content_filter",
};

export function replyFrames(
  scripted: ScriptedReply,
  { body: { model } }: Pick<Asked, "body">,
  number: number,
): readonly string[] {
  const blocks = scripted.reply ?? [];
  const chunk = (choices: readonly unknown[], rest: JsonObject = {}): string =>
    frame({ id: `chatcmpl-${number}`, object: "chat.completion.chunk", created: 0, model, choices, ...rest });
  const delta = (member: JsonObject, finish: string | null = null): string =>
    chunk([{ index: 0, delta: member, finish_reason: finish }]);
  const calls: readonly ReplyBlock[] = blocks.filter((block) => "tool_use" in block);
  const begun = [
    delta({ role: "assistant", content: "" }),
    ...blocks.flatMap((block) => deltas(block, calls.indexOf(block))).map((member) => delta(member)),
  ];
  const { fault, stop_reason: reason, usage = {} } = scripted;
  if (fault?.error !== undefined) {
    return [...begun, frame({ error: { message: fault.error.message, type: fault.error.type } })];
  }
  const finish = reason ?? (calls.length > 0 ? "tool_use" : "end_turn");
  const { input_tokens: input = 0, output_tokens: made = 0, cache_read_input_tokens: read = 0 } = usage;
  const searches = searchesIn(blocks);
  const counts = {
    prompt_tokens: input + read,
    completion_tokens: made,
    total_tokens: input + read + made,
    prompt_tokens_details: { cached_tokens: read },
    ...(searches === 0 ? {} : { server_tool_use: { web_search_requests: searches } }),
  };
  return [...begun, delta({}, REASONS[finish] ?? finish), chunk([], { usage: counts }), "data: [DONE]\n\n"];
}

function frame(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Returns signed reasoning as a gateway sends it: in pieces of one entry, and at the end the signature. */
function details(text: string, signature: string): readonly JsonObject[] {
  const entry = { type: "reasoning.text", index: 0, format: "anthropic-claude-v1" };
  return [
    ...pieces(text).map((piece) => ({ reasoning: piece, reasoning_details: [{ ...entry, text: piece }] })),
    { reasoning_details: [{ ...entry, signature }] },
  ];
}

function deltas(block: ReplyBlock, index: number): readonly JsonObject[] {
  if ("text" in block) {
    const annotations = (block.cites ?? []).map(({ url, title }) => ({
      type: "url_citation",
      url_citation: { url, title, start_index: 0, end_index: block.text.length },
    }));
    return [
      ...pieces(block.text).map((content) => ({ content })),
      ...(annotations.length === 0 ? [] : [{ content: "", annotations }]),
    ];
  }
  if ("thinking" in block && block.signature !== undefined) return details(block.thinking, block.signature);
  if ("thinking" in block) return pieces(block.thinking).map((reasoning_content) => ({ reasoning_content }));
  // A gateway reports only the number of searches.
  if ("redacted" in block || isScriptedUse(block)) return [];
  const { id, name, input = {}, input_text } = block.tool_use;
  const begin = { index, id, type: "function", function: { name, arguments: "" } };
  return [
    { tool_calls: [begin] },
    ...pieces(input_text ?? JSON.stringify(input)).map((piece) => ({
      tool_calls: [{ index, function: { arguments: piece } }],
    })),
  ];
}
