// Facts about the built-in providers that are known without loading them.

import { ownKeyVariable } from "../config/values.ts";

export interface KnownProvider {
  readonly name: string;
  readonly display: string;
  /** Base URL that is used unless the settings name another. */
  readonly defaultBaseUrl: string;
  /** Environment variables that may hold the key, in order. */
  readonly keyVariables: readonly string[];
  /** Kind of key. @default "api_key" */
  readonly keyKind?: "access_token";
  /** True if requests are sent without a key if none is found, as to the person's own server. */
  readonly keyOptional?: true;
  /** Matches the prefixes of the provider's model names. */
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

/** Describes a Chat Completions server that the settings define under `name`. */
export function ownProvider(name: string): KnownProvider {
  return {
    ...KNOWN_PROVIDERS.openai_chat,
    name,
    display: name,
    keyVariables: [ownKeyVariable(name)],
  };
}
