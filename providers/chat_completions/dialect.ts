// Differences between Chat Completions servers, as data from settings and providers.

export interface ChatDialect {
  /** Parameter name of the reply's token limit. */
  readonly maxTokensKey: "max_tokens" | "max_completion_tokens";
  /** Member of a model's message that returns reasoning to the server. */
  readonly reasoningField: string;
  /** Messages of the model that return their reasoning: all, those of the open loop of calls, or none. */
  readonly reasoningBack: "always" | "tools" | "never";
  /** Whether a message with calls needs the reasoning field even if it is empty. */
  readonly emptyReasoning: boolean;
  /** Whether results name the tool in addition to the call id. */
  readonly namesResults: boolean;
  /** Whether the tool choice is sent even if it is the default. */
  readonly saysToolChoice: boolean;
}

/** Suits unknown servers. */
export const PLAIN_DIALECT: ChatDialect = {
  maxTokensKey: "max_tokens",
  reasoningField: "reasoning_content",
  reasoningBack: "tools",
  emptyReasoning: false,
  namesResults: false,
  saysToolChoice: false,
};
