// Facts about providers that are known without loading them: built-in ones, vendors, and entries of the settings.

import type { ProviderSettings, Settings } from "../config/settings.generated.ts";
import { ownKeyVariable } from "../config/values.ts";
import { type ApiKind, type Vendor, vendorOf } from "./vendors.ts";

export interface KnownProvider {
  readonly name: string;
  readonly display: string;
  /** Base URL that is used unless the settings name another; empty if only the settings can name one. */
  readonly defaultBaseUrl: string;
  /** Environment variables that may hold the key, in order; empty if none may. */
  readonly keyVariables: readonly string[];
  /** Kind of key. @default "api_key" */
  readonly keyKind?: "access_token";
  /** True if requests are sent without a key if none is found, as to the person's own server. */
  readonly keyOptional?: boolean;
  /** Matches the prefixes of the provider's model names. */
  readonly modelNames?: RegExp;
  /** The API of a vendor or an entry; absent for a built-in provider. */
  readonly kind?: ApiKind;
  /** The vendor of that name; absent if there is none. */
  readonly vendor?: Vendor;
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

/**
 * Returns the API of a vendor or an entry, whose table of parameters applies to it; null for a built-in provider and
 * an unknown name.
 */
export function apiKindOf(name: string, { providers }: Pick<Settings, "providers">): ApiKind | null {
  if (Object.hasOwn(KNOWN_PROVIDERS, name)) return null;
  const entry = Object.hasOwn(providers, name) ? providers[name] : undefined;
  return entry?.kind ?? vendorOf(name)?.kind ?? null;
}

/**
 * Describes a vendor, or an entry that the settings define under `name`. An entry without an address has one only if
 * its vendor is known, because a key must not go to an address that nobody stated.
 */
export function ownProvider(name: string, entry: ProviderSettings = {}): KnownProvider {
  const vendor = vendorOf(name);
  const kind = entry.kind ?? vendor?.kind ?? "openai_chat";
  const local = kind === "openai_chat" ? KNOWN_PROVIDERS.openai_chat.defaultBaseUrl : "";
  const statesKey = (entry.key_env ?? null) !== null || (entry.key_command ?? null) !== null;
  return {
    name,
    display: vendor?.display ?? name,
    kind,
    defaultBaseUrl: vendor === null ? local : vendor.baseUrls[kind] ?? "",
    keyVariables: entry.key_env ?? vendor?.keyVariables ?? [ownKeyVariable(name)],
    keyOptional: !statesKey && (vendor === null || vendor.isLocal === true),
    ...(vendor === null ? {} : { vendor }),
  };
}
