// Names of environment variables with credentials of model providers. The file is data; add a line if a name is
// missing.

/**
 * Variables that the credential resolvers of the built-in providers read, by service. Their values never reach a tool
 * unless `tools.env.pass` names them.
 */
export const PROVIDER_CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  gemini: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  moonshot: ["MOONSHOT_API_KEY"],
  openai_chat: ["OPENAI_CHAT_API_KEY"],
  vertex: ["VERTEX_ACCESS_TOKEN", "VERTEX_AI_ACCESS_TOKEN", "VERTEX_SERVICE_ACCOUNT"],
};

/** Names of companies that make or serve models, as their variables begin; cloud services by their full name. */
export const MAKERS: readonly string[] = [
  "AI21",
  "AIMLAPI",
  "AI_GATEWAY",
  "ALEPH_ALPHA",
  "ANTHROPIC",
  "ANYSCALE",
  "ARK",
  "ASSEMBLYAI",
  "AZURE_AI",
  "AZURE_INFERENCE",
  "AZURE_OPENAI",
  "BASETEN",
  "BEDROCK",
  "CEREBRAS",
  "CHATGPT",
  "CHUTES",
  "CLAUDE",
  "CODESTRAL",
  "CODEX",
  "COHERE",
  "COPILOT",
  "DASHSCOPE",
  "DEEPGRAM",
  "DEEPINFRA",
  "DEEPSEEK",
  "ELEVENLABS",
  "ELEVEN_LABS",
  "FAL",
  "FIREWORKS",
  "FIREWORKS_AI",
  "FRIENDLI",
  "GEMINI",
  "GITHUB_COPILOT",
  "GITHUB_MODELS",
  "GLM",
  "GOOGLE_AI",
  "GOOGLE_GEMINI",
  "GOOGLE_GENAI",
  "GOOGLE_GENERATIVE_AI",
  "GOOGLE_VERTEX",
  "GROK",
  "GROQ",
  "GROQCLOUD",
  "HELICONE",
  "HF",
  "HUGGINGFACE",
  "HUGGINGFACEHUB",
  "HUGGING_FACE",
  "HUGGING_FACE_HUB",
  "HYPERBOLIC",
  "INCEPTION",
  "JINA",
  "KIMI",
  "LAMBDA_AI",
  "LANGCHAIN",
  "LANGFUSE",
  "LANGSMITH",
  "LEPTON",
  "LITELLM",
  "LLAMA_API",
  "LLAMA_CLOUD",
  "MINIMAX",
  "MISTRAL",
  "MISTRALAI",
  "MOONSHOT",
  "MORPH",
  "NEBIUS",
  "NOVITA",
  "NVIDIA",
  "NVIDIA_NIM",
  "OLLAMA",
  "OPENAI",
  "OPENCODE",
  "OPENROUTER",
  "OPEN_AI",
  "OPEN_ROUTER",
  "OVHCLOUD_AI",
  "PERPLEXITY",
  "PERPLEXITYAI",
  "POE",
  "PORTKEY",
  "QIANFAN",
  "QWEN",
  "REKA",
  "REPLICATE",
  "REQUESTY",
  "SAMBANOVA",
  "SILICONFLOW",
  "STABILITY",
  "STEPFUN",
  "TOGETHER",
  "TOGETHERAI",
  "TOGETHER_AI",
  "UPSTAGE",
  "VENICE",
  "VERTEX",
  "VERTEXAI",
  "VERTEX_AI",
  "VOLCENGINE",
  "VOYAGE",
  "VOYAGEAI",
  "WATSONX",
  "XAI",
  "YI",
  "ZAI",
  "ZHIPU",
  "ZHIPUAI",
];

/** Upper-case names of credential variables that the pattern does not match. */
export const OTHER_CREDENTIALS: readonly string[] = [
  "ANTHROPIC_CUSTOM_HEADERS",
  "AWS_BEARER_TOKEN_BEDROCK",
  "AZURE_API_KEY",
  "CO_API_KEY",
  "IBM_CLOUD_AI_API_KEY",
  "PPLX_API_KEY",
];

const KEY = "(?:API)?_?(?:KEYS?|TOKEN|SECRET)";
// The pattern of such names. The maker's name is at the beginning or after an underscore (`VITE_OPENAI_API_KEY`), and
// rarely after the word for the key (`API_KEY_OPENAI`). A number may follow, because some people have several keys.
// `…_TOKENS` counts tokens and does not match.
const PATTERN = new RegExp(
  `(?:^|_)(?:${MAKERS.join("|")})(?:_.*)?${KEY}(?:_?\\d+)?$|^(?:.*_)?${KEY}_(?:${MAKERS.join("|")})$`,
  "i",
);

/**
 * Words of which every matching name contains one. Most variables contain none of them. This check saves time: the
 * full pattern alone takes 9 ms on a typical environment.
 */
const WORD = /KEY|TOKEN|SECRET/i;

const EXACT: ReadonlySet<string> = new Set([
  ...Object.values(PROVIDER_CREDENTIALS).flat(),
  ...OTHER_CREDENTIALS,
]);

/** True if a variable of this name holds a credential of a model provider. Ignores case. */
export function isCredential(name: string): boolean {
  return EXACT.has(name.toUpperCase()) || (WORD.test(name) && PATTERN.test(name));
}
