// Differences between Chat Completions servers, as data from settings and providers.

export interface ChatDialect {
  /** Name of the parameter for the reply's token limit. */
  readonly maxTokensKey: "max_tokens" | "max_completion_tokens";
  /** Member of a model's message in which reasoning is returned to the server, or `IN_CONTENT`. */
  readonly reasoningField: string;
  /**
   * In which of the model's messages reasoning is sent back: in all (`always`), in those of the open loop of calls
   * (`tools`), or in none (`never`).
   */
  readonly reasoningBack: "always" | "tools" | "never";
  /** True if a message with calls needs the reasoning field even if it is empty. */
  readonly emptyReasoning: boolean;
  /** True if results name the tool in addition to the call id. */
  readonly namesResults: boolean;
  /** True if the tool choice is sent even if it is the default. */
  readonly saysToolChoice: boolean;
}

/** In place of a member's name: reasoning is returned in `<think>` tags at the beginning of the content. */
export const IN_CONTENT = "<think>";

/** Dialect that suits unknown servers. */
export const PLAIN_DIALECT: ChatDialect = {
  maxTokensKey: "max_tokens",
  reasoningField: "reasoning_content",
  reasoningBack: "always",
  emptyReasoning: false,
  namesResults: false,
  saysToolChoice: false,
};
