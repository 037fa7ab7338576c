// Names of variables that hold the credentials of model providers (S7). Data; add a line where one is missing.

/**
 * Read by the credential resolvers of the providers this program knows, by service. Their values never reach a
 * tool unless `tools.env.pass` names them.
 */
export const PROVIDER_CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  moonshot: ["MOONSHOT_API_KEY"],
  vertex: ["VERTEX_ACCESS_TOKEN", "VERTEX_AI_ACCESS_TOKEN", "VERTEX_SERVICE_ACCOUNT"],
};

/** Read by the usual clients of other providers, or by other programs for the same ones. */
export const OTHER_CREDENTIALS: readonly string[] = [
  "AI21_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANYSCALE_API_KEY",
  "AWS_BEARER_TOKEN_BEDROCK",
  "AZURE_AI_API_KEY",
  "AZURE_OPENAI_AD_TOKEN",
  "AZURE_OPENAI_API_KEY",
  "CEREBRAS_API_KEY",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "CODESTRAL_API_KEY",
  "COHERE_API_KEY",
  "CO_API_KEY",
  "DASHSCOPE_API_KEY",
  "DEEPINFRA_API_KEY",
  "DEEPINFRA_API_TOKEN",
  "DEEPSEEK_API_KEY",
  "FIREWORKS_API_KEY",
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "GROQ_API_KEY",
  "HF_TOKEN",
  "HUGGINGFACEHUB_API_TOKEN",
  "HUGGINGFACE_API_KEY",
  "HUGGING_FACE_HUB_TOKEN",
  "JINA_API_KEY",
  "KIMI_API_KEY",
  "LITELLM_API_KEY",
  "MINIMAX_API_KEY",
  "MISTRAL_API_KEY",
  "NVIDIA_API_KEY",
  "OLLAMA_API_KEY",
  "OPENAI_ACCESS_TOKEN",
  "OPENROUTER_API_KEY",
  "PERPLEXITYAI_API_KEY",
  "PERPLEXITY_API_KEY",
  "REPLICATE_API_KEY",
  "REPLICATE_API_TOKEN",
  "SAMBANOVA_API_KEY",
  "TOGETHERAI_API_KEY",
  "TOGETHER_API_KEY",
  "VERTEXAI_API_KEY",
  "VOYAGE_API_KEY",
  "WATSONX_APIKEY",
  "WATSONX_API_KEY",
  "XAI_API_KEY",
  "ZAI_API_KEY",
  "ZHIPUAI_API_KEY",
];
