// Conversion of a scripted reply into events of the Anthropic Messages stream.

import type { ReplyBlock, ScriptedReply, ScriptedServerTool } from "./script.ts";
import { citationOf, isScriptedUse, searchesIn, serverToolBlocks } from "./search.ts";

/** Characters per text delta, about as many as a model sends. */
const DELTA = 12;

type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Returns the frames of a reply, each a whole server-sent event; `fields` are added to its message. */
export function replyFrames(
  scripted: ScriptedReply,
  model: string,
  fields: Readonly<Record<string, unknown>> = {},
): readonly string[] {
  const blocks = scripted.reply ?? [];
  const usage = { input_tokens: 0, output_tokens: 0, ...scripted.usage };
  const { output_tokens: output, ...input } = usage;
  const events: Event[] = [
    {
      type: "message_start",
      message: {
        id: "msg_replay",
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...input, output_tokens: 0 },
        ...fields,
      },
    },
    ...blocks.flatMap(wireParts).flatMap(blockEvents),
  ];
  if (scripted.fault?.error !== undefined) {
    events.push({ type: "error", error: scripted.fault.error });
  } else {
    const asks = blocks.some((block) => "tool_use" in block);
    const searches = searchesIn(blocks);
    const reason = scripted.stop_reason ?? (asks ? "tool_use" : "end_turn");
    events.push(
      {
        type: "message_delta",
        delta: {
          stop_reason: reason,
          stop_sequence: null,
          ...(scripted.stop_details === undefined ? {} : { stop_details: scripted.stop_details }),
        },
        usage: {
          output_tokens: output,
          ...(searches === 0 ? {} : { server_tool_use: { web_search_requests: searches } }),
        },
      },
      { type: "message_stop" },
    );
  }
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** A block of the stream: its beginning and its deltas. */
type WirePart = readonly [start: object, deltas: readonly object[]];

function blockEvents([start, deltas]: WirePart, index: number): Event[] {
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** Converts a scripted block to the blocks of the stream. A use of the provider's tool is two of them. */
function wireParts(block: ReplyBlock, place: number): readonly WirePart[] {
  if (!isScriptedUse(block)) return [blockParts(block)];
  return serverToolBlocks(block, place).map((made): WirePart => {
    if (made.type !== "server_tool_use") return [made, []];
    const json = pieces(JSON.stringify(made.input));
    return [{ ...made, input: {} }, json.map((partial_json) => ({ type: "input_json_delta", partial_json }))];
  });
}

function blockParts(block: Exclude<ReplyBlock, ScriptedServerTool>): WirePart {
  if ("text" in block) {
    const cites = (block.cites ?? []).map((page) => ({
      type: "citations_delta",
      citation: citationOf(page),
    }));
    const text = pieces(block.text).map((text) => ({ type: "text_delta", text }));
    return [{ type: "text", text: "", ...(cites.length === 0 ? {} : { citations: [] }) }, [
      ...cites,
      ...text,
    ]];
  }
  if ("thinking" in block) {
    const thinking = pieces(block.thinking).map((piece) => ({ type: "thinking_delta", thinking: piece }));
    const signature = { type: "signature_delta", signature: block.signature ?? "cmVwbGF5" };
    return [{ type: "thinking", thinking: "", signature: "" }, [...thinking, signature]];
  }
  if ("redacted" in block) return [{ type: "redacted_thinking", data: block.redacted }, []];
  const { id, name, input = {}, input_text } = block.tool_use;
  const json = pieces(input_text ?? JSON.stringify(input));
  return [
    { type: "tool_use", id, name, input: {} },
    json.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  ];
}

function pieces(text: string): readonly string[] {
  const characters = [...text];
  return Array.from(
    { length: Math.ceil(characters.length / DELTA) },
    (_, index) => characters.slice(index * DELTA, (index + 1) * DELTA).join(""),
  );
}
