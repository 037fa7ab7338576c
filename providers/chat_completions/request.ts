// The common part of Chat Completions requests: body, headers and URL.

import { type JsonMembers, toJsonValue, writeBody } from "../request/json.ts";
import { withExtraBody } from "../request/extra_body.ts";
import { withBody } from "../http/body.ts";
import { entryHeaders } from "../http/entry_headers.ts";
import { createFallbacks } from "../request/fallback.ts";
import { reusedIdWarnings } from "../request/pairing.ts";
import { sortedTools, toolDescription, USER_AGENT, wireName } from "../request/wire.ts";
import type { OfferedTool, ProviderRequest, RequestInput, ServerTool } from "../types.ts";
import { chatUrl } from "./address.ts";
import { type ChatDialect, IN_CONTENT, PLAIN_DIALECT } from "./dialect.ts";
import { chatMessages } from "./messages.ts";

const TRAILING_KEYS = ["tools", "messages"] as const;

export interface ChatRequest {
  /** Name of the provider. Only reasoning of this provider is sent back as reasoning. */
  readonly provider: string;
  readonly model: string;
  readonly dialect: ChatDialect;
  readonly foreign: "preserve" | "drop";
  /** Token limit of the reply; undefined sends no limit. */
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  readonly thinking: JsonMembers;
  /** Additional members, which may override the common ones. */
  readonly extra: JsonMembers;
  readonly warnings: readonly string[];
}

/** Builds the request; a pure function of its input. */
export function chatRequest(
  input: RequestInput,
  options: ChatRequest,
): { request: ProviderRequest; warnings: readonly string[] } {
  const { dialect: usual, provider, foreign } = options;
  const { fallbacks = new Set() } = input;
  const dialect: ChatDialect = fallbacks.has("reasoning-field")
    ? { ...usual, reasoningBack: "never", emptyReasoning: false }
    : fallbacks.has("bare-calls")
    ? {
      ...usual,
      // This refusal names the member that the server misses.
      reasoningField: usual.reasoningField === IN_CONTENT
        ? PLAIN_DIALECT.reasoningField
        : usual.reasoningField,
      reasoningBack: "always",
      emptyReasoning: true,
    }
    : usual;
  const { messages, warnings } = chatMessages(input.prompt, {
    provider,
    dialect,
    foreign,
    systemRole: !fallbacks.has("system-role"),
    shortIds: fallbacks.has("long-ids"),
    leftOut: input.leftOut,
  });
  const tools = [...sortedTools(input.tools).map(wireTool), ...(input.serverTools ?? []).map(gatewayTool)];
  const body: JsonMembers = {
    model: options.model,
    [dialect.maxTokensKey]: fallbacks.has("reply-limit") ? undefined : options.maxTokens,
    stream: true,
    stream_options: fallbacks.has("token-counts") ? undefined : { include_usage: true },
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 || !dialect.saysToolChoice ? undefined : "auto",
    temperature: fallbacks.has("sampling") ? undefined : options.temperature,
    ...(fallbacks.has("thinking") ? {} : options.thinking),
    ...options.extra,
    messages,
  };
  return {
    request: withBody(
      {
        method: "POST",
        url: chatUrl(input.baseUrl),
        headers: {
          ...entryHeaders(input.settings, provider, { key: input.key, usual: "bearer" }),
          "content-type": "application/json",
          "user-agent": USER_AGENT,
        },
      },
      writeBody(withExtraBody(body, input.settings, provider), TRAILING_KEYS),
    ),
    warnings: [...reusedIdWarnings(input.prompt), ...warnings, ...options.warnings],
  };
}

/** Patterns for the refusals of these servers. */
export const chatFallbacks = createFallbacks([
  [/openrouter:web_|server tool/i, "server-tools"],
  [/stream_options|include_usage/i, "token-counts"],
  // The first pattern matches refusals of Mistral models; the second, refusals of the chat templates of Gemma.
  [/tool call ids?\b.*\b(?:9|nine)\b/i, "long-ids"],
  [/system role not supported|'?system'? role is not supported/i, "system-role"],
  // vLLM counts the reply's token limit as part of the context window, which is small on home machines.
  [/max_(?:completion_)?tokens|in the completion|max_new_tokens/i, "reply-limit"],
  [/reasoning_content\W.*(?:missing|must be|passed back|required)/i, "bare-calls"],
  // A signature or encrypted reasoning that the vendor behind a gateway refuses concerns only this document.
  [/signature|encrypted|could not be verified/i, "earlier-thinking"],
  [/reasoning_content|reasoning_details|messages.*\breasoning\b/i, "reasoning-field"],
  [/reasoning_effort|reasoning\.effort|\bthinking\b|enable_thinking/i, "thinking"],
  [/temperature|top_p/i, "sampling"],
  [/reasoning|thinking|signature/i, "reasoning-field"],
]);

/**
 * Returns a tool that OpenRouter runs. The engines are those that keep to the limits and whose price is known, whatever
 * the model.
 */
function gatewayTool({ name, maxUses, allowed, blocked }: ServerTool): JsonMembers {
  const isSearch = name === "web_search";
  return {
    type: `openrouter:${name}`,
    parameters: {
      engine: isSearch ? "exa" : "openrouter",
      max_uses: maxUses,
      allowed_domains: allowed ?? undefined,
      [isSearch ? "excluded_domains" : "blocked_domains"]: blocked.length === 0 ? undefined : blocked,
    },
  };
}

function wireTool(tool: OfferedTool, _at: number, offered: readonly OfferedTool[]): JsonMembers {
  return {
    type: "function",
    function: {
      name: wireName(tool.name, offered),
      description: toolDescription(tool),
      parameters: toJsonValue(tool.input_schema),
    },
  };
}
