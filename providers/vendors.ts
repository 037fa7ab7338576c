// The vendors that are usable by name, as one table: their addresses, keys, and what their servers need.

import type { ProviderSettings } from "../config/settings.generated.ts";
import type { RequestFallback } from "./types.ts";

/** An API that a vendor, or an entry of the settings, offers. */
export type ApiKind = NonNullable<ProviderSettings["kind"]>;

/** A vendor that needs no entry in the settings. */
export interface Vendor {
  /** Display name, such as `DeepSeek`. */
  readonly display: string;
  /** The API that requests use, unless `providers.NAME.kind` names another. */
  readonly kind: ApiKind;
  /** Base URL of each API that the vendor offers. The person replaces words in braces with `providers.NAME.base_url`. */
  readonly baseUrls: Readonly<Partial<Record<ApiKind, string>>>;
  /** Domains at which entries of the settings may reach the vendor, besides those of `baseUrls`. */
  readonly domains?: readonly string[];
  /** Environment variables that may hold the key, in order. */
  readonly keyVariables: readonly string[];
  /** True for a server on the person's machine, which needs no key. */
  readonly isLocal?: true;
  /** Settings of the entry; those of `providers.NAME` take precedence. */
  readonly settings?: Pick<ProviderSettings, "auth" | "reasoning_field" | "reasoning_key">;
  /** Efforts that Chat Completions requests may name, weakest first. @default low, medium, high */
  readonly efforts?: readonly string[];
  /** What the vendor is known to refuse in Chat Completions requests, so that no request is refused for it. */
  readonly refuses?: readonly RequestFallback[];
  /** What to check if the vendor refuses a key, as a full sentence. */
  readonly keyHint?: string;
}

/** The host of a workspace at Alibaba Cloud. */
const QWEN = "https://{workspace}.ap-southeast-1.maas.aliyuncs.com";

/** The vendors by name in the settings. */
export const VENDORS: Readonly<Record<string, Vendor>> = {
  "cerebras": {
    display: "Cerebras",
    kind: "openai_chat",
    baseUrls: { openai_chat: "https://api.cerebras.ai/v1" },
    keyVariables: ["CEREBRAS_API_KEY"],
    refuses: ["reasoning-field"],
  },
  "deepseek": {
    display: "DeepSeek",
    kind: "openai_chat",
    baseUrls: {
      openai_chat: "https://api.deepseek.com",
      anthropic: "https://api.deepseek.com/anthropic",
      openai: "https://api.deepseek.com",
    },
    keyVariables: ["DEEPSEEK_API_KEY"],
    settings: { reasoning_key: "thinking_and_effort" },
    efforts: ["low", "high", "max"],
    refuses: ["bare-calls"],
  },
  "groq": {
    display: "Groq",
    kind: "openai_chat",
    baseUrls: { openai_chat: "https://api.groq.com/openai/v1", openai: "https://api.groq.com/openai/v1" },
    keyVariables: ["GROQ_API_KEY"],
    refuses: ["reasoning-field"],
  },
  "llamacpp": {
    display: "llama.cpp",
    kind: "openai_chat",
    baseUrls: { openai_chat: "http://localhost:8080/v1", anthropic: "http://localhost:8080" },
    keyVariables: ["LLAMACPP_API_KEY"],
    isLocal: true,
  },
  "lmstudio": {
    display: "LM Studio",
    kind: "openai_chat",
    baseUrls: {
      openai_chat: "http://localhost:1234/v1",
      anthropic: "http://localhost:1234",
      openai: "http://localhost:1234/v1",
    },
    keyVariables: ["LMSTUDIO_API_KEY"],
    isLocal: true,
  },
  "minimax": {
    display: "MiniMax",
    kind: "openai_chat",
    baseUrls: {
      openai_chat: "https://api.minimax.io/v1",
      anthropic: "https://api.minimax.io/anthropic",
      openai: "https://api.minimax.io/v1",
    },
    domains: ["minimaxi.com", "minimaxi.chat", "minimax.chat"],
    keyVariables: ["MINIMAX_API_KEY"],
    settings: { reasoning_field: "<think>" },
  },
  "mistral": {
    display: "Mistral",
    kind: "openai_chat",
    baseUrls: { openai_chat: "https://api.mistral.ai/v1" },
    keyVariables: ["MISTRAL_API_KEY"],
    refuses: ["reasoning-field", "long-ids"],
  },
  "ollama": {
    display: "Ollama",
    kind: "openai_chat",
    baseUrls: {
      openai_chat: "http://localhost:11434/v1",
      anthropic: "http://localhost:11434",
      openai: "http://localhost:11434/v1",
    },
    // OLLAMA_API_KEY is the key of Ollama's cloud, which no other server may receive.
    keyVariables: [],
    isLocal: true,
    settings: { reasoning_field: "reasoning" },
  },
  "ollama-cloud": {
    display: "Ollama Cloud",
    kind: "openai_chat",
    baseUrls: {
      openai_chat: "https://ollama.com/v1",
      anthropic: "https://ollama.com",
      openai: "https://ollama.com/v1",
    },
    keyVariables: ["OLLAMA_CLOUD_API_KEY", "OLLAMA_API_KEY"],
    settings: { auth: "bearer", reasoning_field: "reasoning" },
  },
  "openrouter": {
    display: "OpenRouter",
    kind: "openai_chat",
    baseUrls: { openai_chat: "https://openrouter.ai/api/v1" },
    keyVariables: ["OPENROUTER_API_KEY"],
    settings: { reasoning_key: "reasoning" },
  },
  "qwen": {
    display: "Qwen",
    kind: "openai_chat",
    baseUrls: { openai_chat: `${QWEN}/compatible-mode/v1`, anthropic: `${QWEN}/apps/anthropic` },
    keyVariables: ["QWEN_API_KEY", "DASHSCOPE_API_KEY"],
    settings: { reasoning_key: "enable_thinking" },
    keyHint: "A key is valid only in its region: check the region in providers.qwen.base_url.",
  },
  "vllm": {
    display: "vLLM",
    kind: "openai_chat",
    baseUrls: {
      openai_chat: "http://localhost:8000/v1",
      anthropic: "http://localhost:8000",
      openai: "http://localhost:8000/v1",
    },
    keyVariables: ["VLLM_API_KEY"],
    isLocal: true,
    settings: { reasoning_field: "reasoning" },
  },
  "xai": {
    display: "xAI",
    kind: "openai",
    baseUrls: { openai: "https://api.x.ai/v1", openai_chat: "https://api.x.ai/v1" },
    keyVariables: ["XAI_API_KEY"],
  },
  "zai": {
    display: "Z.ai",
    kind: "openai_chat",
    baseUrls: { openai_chat: "https://api.z.ai/api/paas/v4", anthropic: "https://api.z.ai/api/anthropic" },
    keyVariables: ["ZAI_API_KEY", "Z_AI_API_KEY"],
    settings: { reasoning_key: "thinking" },
    keyHint: "A key of the coding plan works only with the provider zai-coding.",
  },
  "zai-coding": {
    display: "Z.ai coding plan",
    kind: "openai_chat",
    baseUrls: { openai_chat: "https://api.z.ai/api/coding/paas/v4", openai: "https://api.z.ai/api/v1" },
    keyVariables: ["ZAI_CODING_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY"],
    settings: { reasoning_key: "thinking" },
    keyHint: "Only a key of the coding plan works here; for any other key, use the provider zai.",
  },
};

/** Returns the vendor of that name; null if there is none. */
export function vendorOf(name: string): Vendor | null {
  return Object.hasOwn(VENDORS, name) ? VENDORS[name]! : null;
}

/** Returns the vendor to which a host belongs, whatever the name of the entry; null if there is none. */
export function vendorAt(host: string): Vendor | null {
  const isBelow = (domain: string) => host === domain || host.endsWith(`.${domain}`);
  return Object.values(VENDORS).find((vendor) =>
    vendor.isLocal !== true && [...vendor.domains ?? [], ...domainsOf(vendor)].some(isBelow)
  ) ?? null;
}

/** Returns the registered domains of a vendor's addresses, such as `deepseek.com`. */
function domainsOf({ baseUrls }: Vendor): string[] {
  return Object.values(baseUrls).map((url) => url.split("/")[2]!.split(".").slice(-2).join("."));
}
