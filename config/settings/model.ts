// Settings of models and the providers that have them.

/** Unified thinking level; a number is a token budget, `false` and `0` switch thinking off. */
export type ThinkingLevel = "minimal" | "low" | "medium" | "high" | "max" | number | false;

/** How much a model may think before it answers. */
export interface Thinking {
  /** The level that is asked for. */
  readonly level: ThinkingLevel;
  /** What becomes of thinking that another provider wrote. */
  readonly foreign: "preserve" | "drop";
}

/** Model parameters (providers section 8). Provider tables may repeat every general one. */
export interface Parameters {
  /** Tokens that a reply may have, or a share of what the model allows, such as `50%`. */
  readonly max_tokens: number | string;
  /** How freely the model chooses; null leaves it to the provider. */
  readonly temperature: number | null;
  /** Seconds for the whole reply. */
  readonly timeout: number;
  /** Seconds until the connection stands. */
  readonly connect_timeout: number;
  /** How long the provider keeps the beginning of a conversation at hand. */
  readonly cache_retention: "short" | "long" | "none";
  /** How much the model may think. */
  readonly thinking: Thinking;
  /** Parameters for Anthropic alone. */
  readonly anthropic: ProviderParameters;
  /** Parameters for OpenAI alone. */
  readonly openai?: ProviderParameters;
  /** Parameters for Vertex AI alone. */
  readonly vertex?: ProviderParameters;
  /** Parameters for Gemini at AI Studio alone. */
  readonly gemini?: ProviderParameters;
  /** Parameters for Moonshot alone. */
  readonly moonshot?: ProviderParameters;
  /** Parameters for Chat Completions servers alone. */
  readonly openai_chat?: ProviderParameters;
}

/** Parameters of one provider; stronger than the general ones whatever layer they come from. */
export type ProviderParameters = Readonly<Record<string, unknown>>;

/** What a person tells of a model, over what the program knows of it or of another that it is like. */
export interface ModelSetting {
  /** The model whose facts hold where nothing else is said. @default the model itself, where it is known */
  readonly like?: string;
  /** Tokens that prompt and reply may have together. */
  readonly context?: number;
  /** Tokens that a reply may have. */
  readonly max_output?: number;
  /** How it is told to think. */
  readonly thinking?: "adaptive" | "effort" | "budget" | "switch" | "none";
  /** Dollars per million tokens. */
  readonly prices?: {
    readonly input: number;
    readonly output: number;
    readonly cache_read?: number;
    readonly cache_write?: number;
    readonly cache_write_long?: number;
  };
}

/** Where one provider is, and for servers of the person's own how they like to be asked. */
export interface ProviderSettings {
  /** Address of its API. */
  readonly base_url?: string | null;
  /** What is to be known of its models, by their names. */
  readonly models?: Readonly<Record<string, ModelSetting>> | null;
  /** Requests that it gets at a time from one process; null is no limit. */
  readonly max_requests?: number | null;
  /** The command that prints its key: a line of shell, or a program and its arguments. */
  readonly key_command?: string | readonly string[] | null;
  /** Makes a name that is not built in a Chat Completions server. */
  readonly kind?: "openai_chat" | null;
  /** What the limit of the reply is called. */
  readonly max_tokens_key?: "max_tokens" | "max_completion_tokens" | null;
  /** The member of messages in which reasoning goes back. */
  readonly reasoning_field?: string | null;
  /** Which messages take their reasoning along. */
  readonly reasoning_back?: "always" | "tools" | "never" | null;
  /** The member of requests that names the effort: `reasoning_effort`, or `reasoning` with an `effort` inside. */
  readonly reasoning_key?: "reasoning_effort" | "reasoning" | null;
  /** Whether the model may make several calls in one reply; null leaves it to the server. */
  readonly parallel_tool_calls?: boolean | null;
  /** Further members of requests. */
  readonly extra_body?: Readonly<Record<string, unknown>> | null;
}

/** The variable with the key of a server of the person's own, by the name that settings give it. */
export function ownKeyVariable(name: string): string {
  return `${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`;
}
