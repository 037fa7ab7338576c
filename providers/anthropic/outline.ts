// The summary of a conversation that decides which thinking Anthropic still accepts.

import type { Outline, PrefixPiece, RequestInput } from "../types.ts";
import { writeJson } from "../request/json.ts";
import { resolveParameters } from "../request/parameters.ts";
import { type ContentBlock, typeOf, type WireMessage, wireMessages } from "./messages.ts";
import { bindingOf, canRead } from "./binding.ts";
import { wireTools } from "./tools.ts";

/** Number of pieces before the conversation: tools and system prompt. */
const BEFORE_MESSAGES = 2;

/** Summarizes the request to be built; a pure function of its input. */
export function outline(input: RequestInput, provider: string): Outline {
  const { prompt, settings } = input;
  const parameters = resolveParameters(settings, provider);
  const messages = wireMessages(prompt, { provider, foreign: parameters.thinking.foreign });
  const tools: PrefixPiece = {
    what: "tools",
    line: null,
    text: writeJson(wireTools(input.tools, undefined, input.serverTools)),
    thinking: [],
  };
  const system: PrefixPiece = {
    what: "system",
    line: prompt.systemLine ?? null,
    text: prompt.system ?? "",
    thinking: [],
  };
  return {
    pieces: [tools, system, ...messages.map(pieceOf)],
    whole: BEFORE_MESSAGES + wholeFrom(messages),
    mismatch: bindingOf(settings, provider),
    canRead: (writer) => canRead(settings, provider, writer),
  };
}

function pieceOf(message: WireMessage): PrefixPiece {
  const otherBlocks = message.content.filter((block) => !message.thinking.has(block));
  return {
    what: message.role,
    line: message.line,
    // The text is computed on access, because the texts of all pieces together would be another copy of the
    // conversation.
    get text() {
      return otherBlocks.length === 0 ? "" : writeJson([message.role, otherBlocks]);
    },
    thinking: message.content.flatMap((block) => message.thinking.get(block) ?? []),
  };
}

/**
 * Returns the index of the first message whose thinking is sent completely or not at all. In an open loop of calls,
 * this is the first message after the person's last one; otherwise it is the model's last message.
 */
function wholeFrom(messages: readonly WireMessage[]): number {
  const last = messages.at(-1);
  if (last?.role !== "user" || !last.content.some(isResult)) {
    const reply = messages.findLastIndex(({ role }) => role === "assistant");
    return reply < 0 ? messages.length : reply;
  }
  let from = messages.length - 1;
  while (from > 0) {
    const { role, content } = messages[from - 1]!;
    if (role === "user" && !content.every(isResult)) break;
    from--;
  }
  return from;
}

function isResult(block: ContentBlock): boolean {
  return typeOf(block) === "tool_result";
}
