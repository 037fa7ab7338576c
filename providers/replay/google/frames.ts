// Conversion of a scripted reply into responses of Gemini's stream.

import type { ReplyBlock, ScriptedReply } from "../script.ts";
import { type Asked, type JsonObject, pieces } from "../dialect.ts";
import { writeSealed } from "../sealed.ts";
import { modelOf } from "./address.ts";

const REASONS: Readonly<Record<string, string>> = {
  end_turn: "STOP",
  stop_sequence: "STOP",
  tool_use: "STOP",
  max_tokens: "MAX_TOKENS",
  refusal: "SAFETY",
};

/** Returns the frames of a reply. The first call is signed, as in replies of Gemini 3. */
export function replyFrames(
  scripted: ScriptedReply,
  asked: Pick<Asked, "path" | "headers">,
  number: number,
): readonly string[] {
  const model = modelOf(asked.path);
  const blocks = scripted.reply ?? [];
  const first = blocks.findIndex((block) => "tool_use" in block);
  const begun = blocks.flatMap((block, index) =>
    partsOf(block, index === first ? writeSealed(`${number}`, model, asked) : undefined)
  ).map((part) =>
    frame({ candidates: [{ index: 0, content: { role: "model", parts: [part] } }], modelVersion: model })
  );
  const { fault, stop_reason: reason = "end_turn", usage = {} } = scripted;
  if (fault?.error !== undefined) {
    return [
      ...begun,
      frame({ error: { code: 500, message: fault.error.message, status: fault.error.type } }),
    ];
  }
  const { input_tokens: input = 0, output_tokens: made = 0, cache_read_input_tokens: read = 0 } = usage;
  const usageMetadata = {
    promptTokenCount: input + read,
    candidatesTokenCount: made,
    ...(read > 0 ? { cachedContentTokenCount: read } : {}),
    totalTokenCount: input + read + made,
  };
  const content = { role: "model", parts: [{ text: "" }] };
  const last = { index: 0, content, finishReason: REASONS[reason] ?? reason };
  return [...begun, frame({ candidates: [last], usageMetadata, modelVersion: model })];
}

function frame(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function partsOf(block: ReplyBlock, signature: string | undefined): readonly JsonObject[] {
  if ("text" in block) return pieces(block.text).map((text) => ({ text }));
  if ("thinking" in block) return pieces(block.thinking).map((text) => ({ text, thought: true }));
  if ("redacted" in block) return [];
  const { id, name, input = {} } = block.tool_use;
  return [{
    functionCall: { id, name, args: input },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }];
}
