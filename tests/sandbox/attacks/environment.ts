// Attacks: what a command learns from its environment variables, and where they lead it.

import { type Attack, inGroup, saysPwned, type Scene } from "./types.ts";

const KEY = "sk-PWNED-0123456789abcdef";

/** Spellings of a provider's key that people use. */
const NAMES = [
  ..."CLAUDE_API_KEY OPENAI_KEY AZURE_API_KEY AI_GATEWAY_API_KEY LANGSMITH_API_KEY openai_api_key".split(" "),
  ..."Anthropic_Api_Key ANTHROPIC_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_API_KEY_2 CLAUDE_CODE_OAUTH_TOKEN".split(
    " ",
  ),
  ..."VITE_OPENAI_API_KEY NEXT_PUBLIC_GEMINI_API_KEY MY_MISTRAL_KEY OPENAI_APIKEY OPENAIKEY API_KEY_OPENAI"
    .split(" "),
  ..."GEMINI_API_KEYS GOOGLE_API_KEY HF_TOKEN HUGGINGFACE_TOKEN XAI_API_KEY GROK_API_KEY DEEPSEEK_KEY".split(
    " ",
  ),
  ..."KIMI_API_KEY QWEN_API_KEY DASHSCOPE_API_KEY ZAI_API_KEY ZHIPUAI_API_KEY OPENROUTER_KEY GROQ_KEY".split(
    " ",
  ),
  ..."AWS_BEARER_TOKEN_BEDROCK AZURE_OPENAI_KEY TOGETHER_API_KEY FIREWORKS_API_KEY COHERE_KEY VOYAGE_KEY"
    .split(" "),
  ..."OPENCODE_API_KEY GITHUB_COPILOT_TOKEN PERPLEXITY_KEY OPENAI_SECRET".split(" "),
];

/** A repository of the person's elsewhere, with something in it that only its own git should tell. */
const plantRepository = ({ root }: Scene) => {
  const git = (...args: string[]) =>
    new Deno.Command("git", { args, env: { HOME: root, GIT_CONFIG_NOSYSTEM: "1" } }).outputSync();
  git("init", "-q", `${root}/elsewhere`);
  git("-C", `${root}/elsewhere`, "config", "x.y", "PWNED");
};

export const ENVIRONMENT: readonly Attack[] = inGroup("the environment", [
  {
    name: "keys under fifty names",
    variables: () => Object.fromEntries(NAMES.map((name) => [name, KEY])),
    shell: () => "env; cat /proc/self/environ /proc/*/environ",
    won: saysPwned,
  },
  {
    name: "a key that is also in a second variable",
    variables: () => ({ ANTHROPIC_API_KEY: KEY, WORK: KEY }),
    shell: () => 'env; echo "$WORK"',
    won: saysPwned,
  },
  {
    name: "the caller's GIT_DIR",
    plant: plantRepository,
    variables: ({ root }) => ({ GIT_DIR: `${root}/elsewhere/.git` }),
    shell: () => "git config x.y",
    won: saysPwned,
  },
  {
    name: "the caller's GIT_WORK_TREE and GIT_INDEX_FILE",
    plant: plantRepository,
    variables: ({ root }) => ({
      GIT_WORK_TREE: `${root}/elsewhere`,
      GIT_INDEX_FILE: `${root}/elsewhere/.git/index`,
      GIT_PREFIX: "elsewhere/",
    }),
    shell: () => "git rev-parse --show-toplevel --git-path index; env",
    won: (_, { out }) => out.includes("elsewhere"),
  },
  {
    name: "the caller's GIT_COMMON_DIR",
    plant: plantRepository,
    variables: ({ root }) => ({ GIT_COMMON_DIR: `${root}/elsewhere/.git` }),
    shell: () => "git config x.y",
    won: saysPwned,
  },
  {
    name: "the caller's CDPATH",
    plant: ({ root }) => Deno.mkdirSync(`${root}/elsewhere/main`, { recursive: true }),
    variables: ({ root }) => ({ CDPATH: `${root}/elsewhere` }),
    shell: () => "mkdir -p main; cd main && pwd",
    won: (_, { out }) => out.includes("elsewhere"),
  },
  {
    name: "a history rewritten by an editor that succeeds",
    variables: () => ({ EDITOR: "true", VISUAL: "true", GIT_EDITOR: "true", GIT_SEQUENCE_EDITOR: "true" }),
    shell: () =>
      "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one; " +
      "git -c user.name=a -c user.email=a@b commit --amend --allow-empty && echo PWNED",
    won: saysPwned,
  },
]);
