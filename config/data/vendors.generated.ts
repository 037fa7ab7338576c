// Made from providers/vendors.ts by scripts/generate/pages/vendors.ts (deno task generate).

/** The variables that may hold the key of each vendor. */
export const VENDOR_KEYS: Readonly<Record<string, readonly string[]>> = {
  "cerebras": ["CEREBRAS_API_KEY"],
  "deepseek": ["DEEPSEEK_API_KEY"],
  "groq": ["GROQ_API_KEY"],
  "llamacpp": ["LLAMACPP_API_KEY"],
  "lmstudio": ["LMSTUDIO_API_KEY"],
  "minimax": ["MINIMAX_API_KEY"],
  "mistral": ["MISTRAL_API_KEY"],
  "ollama": [],
  "ollama-cloud": ["OLLAMA_CLOUD_API_KEY", "OLLAMA_API_KEY"],
  "openrouter": ["OPENROUTER_API_KEY"],
  "qwen": ["QWEN_API_KEY", "DASHSCOPE_API_KEY"],
  "vllm": ["VLLM_API_KEY"],
  "xai": ["XAI_API_KEY"],
  "zai": ["ZAI_API_KEY", "Z_AI_API_KEY"],
  "zai-coding": ["ZAI_CODING_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY"],
};
