// In what Chat Completions servers differ, as data that settings and the providers built on it give.

/** One server's way. */
export interface ChatDialect {
  /** What the limit of the reply is called. */
  readonly maxTokensKey: "max_tokens" | "max_completion_tokens";
  /** The member of a model's message in which reasoning goes back. */
  readonly reasoningField: string;
  /** Which of the model's messages take their reasoning along: all, those of the calls still in work, none. */
  readonly reasoningBack: "always" | "tools" | "never";
  /** Whether a message with calls must have the field although there is nothing to put in. */
  readonly emptyReasoning: boolean;
  /** Whether results name the tool beside the id of the call. */
  readonly namesResults: boolean;
  /** Whether the choice of tools is said although it is the usual one. */
  readonly saysToolChoice: boolean;
}

/** What servers of unknown make take. */
export const PLAIN_DIALECT: ChatDialect = {
  maxTokensKey: "max_tokens",
  reasoningField: "reasoning_content",
  reasoningBack: "tools",
  emptyReasoning: false,
  namesResults: false,
  saysToolChoice: false,
};
