// Conversion of a scripted reply into responses of Gemini's stream.

import type { ReplyBlock, ScriptedReply } from "../script.ts";
import { encrypt, isScriptedUse, type ScriptedUse, useOf } from "../search.ts";
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
    partsOf(block, {
      signature: index === first ? writeSealed(`${number}`, model, asked) : undefined,
      seal: writeSealed(`${number} ${index}`, model, asked),
    })
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
  const last = { index: 0, content, finishReason: REASONS[reason] ?? reason, ...grounding(blocks) };
  return [...begun, frame({ candidates: [last], usageMetadata, modelVersion: model })];
}

function frame(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Returns the signed call and response of a use. */
function useParts(
  { tool, id, asked, pages, error }: ScriptedUse,
  thoughtSignature: string,
): readonly JsonObject[] {
  const [toolType, args] = tool === "web_search"
    ? ["GOOGLE_SEARCH_WEB", { queries: [asked] }]
    : ["URL_CONTEXT", { urls: [asked] }];
  const call = { toolCall: { id, toolType, args }, thoughtSignature };
  const sealed = (pages ?? []).map((page) => ({ ...page, content: undefined, seal: encrypt(page) }));
  const response = error === undefined ? { pages: sealed } : { error };
  return [
    ...(asked === undefined ? [] : [call]),
    ...(pages === undefined && error === undefined
      ? []
      : [{ toolResponse: { id, toolType, response }, thoughtSignature }]),
  ];
}

/** Returns the sources of the texts, as the last response names them. */
function grounding(blocks: readonly ReplyBlock[]): JsonObject {
  const pages = blocks.flatMap((block) => "text" in block ? block.cites ?? [] : []);
  const queries = blocks.flatMap((block) => "web_search" in block ? block.web_search.query ?? [] : []);
  return pages.length + queries.length === 0 ? {} : {
    groundingMetadata: {
      webSearchQueries: queries,
      groundingChunks: pages.map(({ url, title }) => ({ web: { uri: url, title } })),
    },
  };
}

/** `seal` signs searches, `signature` the first call. */
function partsOf(
  block: ReplyBlock,
  { signature, seal }: { readonly signature: string | undefined; readonly seal: string },
): readonly JsonObject[] {
  if ("text" in block) return pieces(block.text).map((text) => ({ text }));
  if ("thinking" in block) return pieces(block.thinking).map((text) => ({ text, thought: true }));
  if ("redacted" in block) return [];
  if (isScriptedUse(block)) return useParts(useOf(block, 0), seal);
  const { id, name, input = {} } = block.tool_use;
  return [{
    functionCall: { id, name, args: input },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }];
}
