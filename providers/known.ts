// The providers that are built in, as what can be said of them without loading any.

import { ownKeyVariable } from "../config/values.ts";

/** What is known of a provider before it is loaded. */
export interface KnownProvider {
  /** As settings write it. */
  readonly name: string;
  /** As people read it. */
  readonly display: string;
  /** Where it is reached unless settings say otherwise. */
  readonly defaultBaseUrl: string;
  /** Variables that may hold the key, in order. */
  readonly keyVariables: readonly string[];
  /** What its key is. @default "api_key" */
  readonly keyKind?: "access_token";
  /** Whether it is asked without a key where none is found: a server of the person's own. */
  readonly keyOptional?: true;
  /** How names of its models begin. */
  readonly modelNames?: RegExp;
}

export const KNOWN_PROVIDERS = {
  anthropic: {
    name: "anthropic",
    display: "Anthropic",
    defaultBaseUrl: "https://api.anthropic.com",
    keyVariables: ["ANTHROPIC_API_KEY"],
    modelNames: /^claude/,
  },
  openai: {
    name: "openai",
    display: "OpenAI",
    defaultBaseUrl: "https://api.openai.com",
    keyVariables: ["OPENAI_API_KEY"],
    modelNames: /^(?:gpt|chatgpt|codex|o\d)/,
  },
  gemini: {
    name: "gemini",
    display: "Gemini",
    defaultBaseUrl: "https://generativelanguage.googleapis.com",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    modelNames: /^gemini/,
  },
  vertex: {
    name: "vertex",
    display: "Vertex AI",
    defaultBaseUrl: "https://aiplatform.googleapis.com",
    keyVariables: ["VERTEX_ACCESS_TOKEN", "VERTEX_AI_ACCESS_TOKEN"],
    keyKind: "access_token",
    modelNames: /^gemini/,
  },
  moonshot: {
    name: "moonshot",
    display: "Moonshot AI",
    defaultBaseUrl: "https://api.moonshot.ai",
    keyVariables: ["MOONSHOT_API_KEY"],
    modelNames: /^(?:kimi|moonshot)/,
  },
  openai_chat: {
    name: "openai_chat",
    display: "Chat Completions",
    defaultBaseUrl: "http://localhost:11434",
    keyVariables: ["OPENAI_CHAT_API_KEY"],
    keyOptional: true,
  },
} as const satisfies Readonly<Record<string, KnownProvider>>;

/** A provider of the person's own: a Chat Completions server under the name that settings give it. */
export function ownProvider(name: string): KnownProvider {
  return {
    ...KNOWN_PROVIDERS.openai_chat,
    name,
    display: name,
    keyVariables: [ownKeyVariable(name)],
  };
}
