// The request of a Chat Completions server: what all of them share of body, headers and address (providers section 7).

import { type JsonValue, toJson, writeBody } from "../request/json.ts";
import { reusedIdWarnings } from "../request/pairing.ts";
import { sortedTools, toolDescription, USER_AGENT, wireName } from "../request/wire.ts";
import type { OfferedTool, ProviderRequest, RequestInput } from "../types.ts";
import { chatUrl } from "./address.ts";
import type { ChatDialect } from "./dialect.ts";
import { chatMessages } from "./messages.ts";

const TRAILING_KEYS = ["tools", "messages"] as const;

export type Members = { readonly [key: string]: JsonValue | undefined };

export interface ChatRequest {
  /** Whose own reasoning is native. */
  readonly provider: string;
  readonly model: string;
  readonly dialect: ChatDialect;
  readonly foreign: "preserve" | "drop";
  /** Tokens of the reply; undefined sends no limit. */
  readonly maxTokens: number | undefined;
  /** Further members, which may replace the shared ones. */
  readonly extra: Members;
  readonly warnings: readonly string[];
}

/** Builds the request; a pure function of its input. */
export function chatRequest(
  input: RequestInput,
  options: ChatRequest,
): { request: ProviderRequest; warnings: readonly string[] } {
  const { dialect, provider, foreign } = options;
  const { messages, warnings } = chatMessages(input.prompt, { provider, dialect, foreign });
  const tools = sortedTools(input.tools).map(wireTool);
  const body: Members = {
    model: options.model,
    [dialect.maxTokensKey]: options.maxTokens,
    stream: true,
    stream_options: { include_usage: true },
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 || !dialect.saysToolChoice ? undefined : "auto",
    ...options.extra,
    messages,
  };
  return {
    request: {
      method: "POST",
      url: chatUrl(input.baseUrl),
      headers: {
        ...(input.key === "" ? {} : { "authorization": `Bearer ${input.key}` }),
        "content-type": "application/json",
        "user-agent": USER_AGENT,
      },
      body: writeBody(body, TRAILING_KEYS),
    },
    warnings: [...reusedIdWarnings(input.prompt), ...warnings, ...options.warnings],
  };
}

function wireTool(tool: OfferedTool): Members {
  return {
    type: "function",
    function: {
      name: wireName(tool.name),
      description: toolDescription(tool),
      parameters: toJson(tool.input_schema),
    },
  };
}
