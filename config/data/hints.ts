// Names from other agents, with their equivalents in flemma. Add a row for a missing word.

import { once } from "../../base/system/once.ts";
import { SANDBOX_MODES } from "./values.ts";

interface Hint {
  /** Names in other programs, separated by spaces. Case, `-` and `_` do not matter. */
  readonly words: string;
  /** Text that ends the sentence which begins with the unknown key. */
  readonly says: string;
  /** The key of flemma that restricts the same rights; set if the name restricts rights. */
  readonly restricts?: string;
}

const APPROVAL =
  "list calls that run without asking in tools.auto_approve; approve, ask about or deny commands and paths in tools.rules";

const HINTS: readonly Hint[] = [
  // Approval.
  {
    words:
      "permissions permission approval approval_policy approvalMode approvals permission_mode defaultMode " +
      "approval_mode confirm confirmation confirm_tool_calls gptel-confirm-tool-calls autoApprovalSettings",
    says: APPROVAL,
    restricts: "tools.auto_approve",
  },
  {
    words:
      "allow allowed allowed_tools alwaysAllow always_allow allow_list allowlist whitelist tools.allow trusted_tools",
    says: "list tools that run without asking in tools.auto_approve, and tools to offer in tools",
    restricts: "tools.auto_approve",
  },
  {
    words: "deny denied deny_list denylist blacklist blocklist forbidden block tools.deny tools.block " +
      "tools.forbid disallowed disallowed_tools",
    says: 'deny tools, commands and paths with rules (tools.rules: [{ deny: bash, command: "rm **" }]); ' +
      "tools: { $remove: [bash] } withholds a tool from the model",
    restricts: "tools.presets",
  },
  {
    words: "ask tools.ask tools.confirm requires_approval require_confirmation tools.require_confirmation",
    says: "flemma asks about calls that tools.auto_approve does not list, and about those in rules " +
      '(tools.rules: [{ ask: bash, command: "git push **" }])',
    restricts: "tools.auto_approve",
  },
  {
    words:
      "disabled_tools disable_tools disabledTools tools.disable tools.disabled tools.exclude exclude_tools",
    says: "withhold tools from the model with tools: { $remove: [NAME] }",
    restricts: "tools",
  },
  {
    words: "enabled_tools enabledTools tools.enable tools.enabled use_tools gptel-use-tools",
    says: "list the tools to offer in tools; tools: [] offers none",
  },
  {
    words:
      "yolo full_auto fullAuto dangerously_skip_permissions dangerouslySkipPermissions yes_always yes-always " +
      "auto_run bypassPermissions trust_all autopilot_mode",
    says: "tools.require_approval: false approves calls that no rule matches; the sandbox stays on",
  },
  {
    words: "additionalDirectories additional_directories add_dirs",
    says: "list folders that commands may write to in sandbox.policy.rw_paths",
  },
  {
    words: "autoAllowBashIfSandboxed auto_allow_bash_if_sandboxed",
    says: "use tools.auto_approve_sandboxed",
  },
  // The sandbox.
  {
    words: "sandbox_mode sandboxMode sandbox.mode",
    says: `for read-only, use sandbox: ${SANDBOX_MODES["read-only"]}; the sandbox is on by default`,
    restricts: "sandbox.policy",
  },
  {
    words: "sandbox_workspace_write sandbox_permissions",
    says: "use sandbox.policy.rw_paths and sandbox.policy.network",
    restricts: "sandbox.policy",
  },
  {
    words: "ro_paths readonly_paths read_only read_only_paths readonly ro deny_write sandbox.policy.read",
    says:
      "paths outside sandbox.policy.rw_paths are read-only; sandbox.policy.protect keeps paths inside it read-only",
    restricts: "sandbox.policy.rw_paths",
  },
  {
    words:
      "writable writable_roots writable_paths write_paths allow_write sandbox.paths sandbox.write sandbox.policy.write " +
      "allowed_directories",
    says: "use sandbox.policy.rw_paths",
    restricts: "sandbox.policy.rw_paths",
  },
  {
    words: "deny_paths denied_paths hidden hide ignore ignore_files ignorePatterns secrets_paths no_read",
    says: "list paths that commands may not read in sandbox.policy.deny_read",
    restricts: "sandbox.policy.deny_read",
  },
  {
    words: "network_access networkAccess allow_network net internet offline sandbox.policy.net",
    says: "use sandbox.policy.network: false, or { allow: [HOST] }",
    restricts: "sandbox.policy.network",
  },
  {
    words: "allowed_hosts allowedDomains allowed_domains domains hosts sandbox.policy.network.hosts",
    says: "use sandbox.policy.network: { allow: [HOST] }",
    restricts: "sandbox.policy.network",
  },
  {
    words: "allowUnixSockets allow_unix_sockets unix_sockets",
    says: "use sandbox.policy.sockets",
    restricts: "sandbox.policy.sockets",
  },
  {
    words: "excludedCommands excluded_commands",
    says: "the name of a command never exempts it from the sandbox",
  },
  {
    words: "docker container image dockerfile",
    says: "set sandbox.backends.container.trusted if flemma runs in a container; flemma starts no containers",
  },
  {
    words: "memory_limit max_memory cpu_limit ulimits",
    says: "use sandbox.policy.limits",
    restricts: "sandbox.policy.limits",
  },
  // Variables and keys.
  {
    words: "env environment env_vars shell_environment_policy.set",
    says: "set variables for commands in tools.bash.env, and withhold others with tools.env.block",
  },
  { words: "shell_environment_policy", says: "use tools.env.block and tools.env.pass" },
  {
    words:
      "api_key apiKey api-key key token auth_token api_key_name api_key_cmd apiKeyHelper anthropic_api_key " +
      "anthropic-api-key openai_api_key openai-api-key gptel-api-key credentials auth preferred_auth_method",
    says: "settings files contain no API keys; set an environment variable such as ANTHROPIC_API_KEY",
  },
  {
    words: "base_url baseUrl baseURL api_base apiBase api_url endpoint url host proxy model_providers",
    says: "use providers.NAME.base_url",
  },
  { words: "headers extra_headers organization org", says: "custom request headers are not supported" },
  // The model.
  {
    words: "model_provider modelProvider backend gptel-backend adapter adapters llm api",
    says: "use provider",
  },
  {
    words: "small_model smallModel weak_model fast_model summary_model",
    says: "flemma uses one model; define others in presets",
  },
  {
    words: "system system_prompt systemPrompt system_message prompt instructions custom_instructions " +
      "gptel-directives directives developer_instructions base_instructions",
    says: "write the system message in the document, below @System:",
  },
  {
    words:
      "reasoning_effort model_reasoning_effort reasoningEffort reasoning extended_thinking alwaysThinkingEnabled " +
      "maxThinkingTokens thinking_tokens budget_tokens thinking_level",
    says: "use thinking: minimal, low, medium, high, max, a number of tokens, or false",
  },
  {
    words:
      "max_output_tokens maxTokens max_completion_tokens model_max_output_tokens num_predict gptel-max-tokens",
    says: "use max_tokens",
  },
  { words: "gptel-temperature temp", says: "use temperature" },
  { words: "gptel-model default_model", says: "use model" },
  {
    words: "top_p top_k stop seed presence_penalty frequency_penalty stop_sequences",
    says: "this parameter is not supported; temperature is",
  },
  {
    words: "context_window model_context_window num_ctx",
    says: "flemma knows the context window of each model",
  },
  { words: "stream streaming gptel-stream", says: "replies are streamed; use --no-stream for one run" },
  { words: "profile profiles agent agents mode modes", says: "define named sets of settings in presets" },
  { words: "cache cache_prompts prompt_caching", says: "use cache_retention: short, long or none" },
  // Running.
  {
    words: "max_steps max_iterations max_loops max_tool_calls recursion_limit turns_limit",
    says: "use tools.autopilot.max_turns",
  },
  {
    words: "auto auto_submit auto_continue loop autonomous",
    says: "use tools.autopilot",
    restricts: "tools.autopilot",
  },
  { words: "command_timeout tool_timeout shell_timeout bash_timeout", says: "use tools.default_timeout" },
  { words: "parallel concurrency max_parallel parallel_tool_calls", says: "use tools.max_concurrent" },
  { words: "retries max_retries retry", says: "flemma retries failed requests automatically" },
  { words: "flemma opt settings config options", says: "write its contents one level higher" },
  // Names that are not settings of flemma.
  { words: "mcpServers mcp_servers servers", says: "use mcp.servers.NAME" },
  {
    words:
      "notify notifications_command notifications Notification SubagentStop PreCompact SessionStart SessionEnd",
    says: "set commands that notify you in hooks.on_pending, hooks.on_done and hooks.on_error",
  },
  {
    words: "hook PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit Stop",
    says: "write hooks below hooks, such as hooks.PreToolUse",
  },
  {
    words: "max_budget budget max_budget_usd cost_limit max_price spending_limit",
    says: "use run.max_cost, in dollars for one run",
    restricts: "run.max_cost",
  },
  {
    words: "compact auto_compact autoCompact autoCompactEnabled compaction summarize",
    says: "flemma compact continues in a new document; context.warn_at sets when flemma suggests it",
  },
  {
    words: "theme tui display statusLine keybinds file_opener outputStyle strategies interactions",
    says: "your editor decides how things look",
  },
  {
    words: "telemetry analytics autoupdate auto_update share",
    says: "flemma sends nothing but requests, and does not update itself",
  },
  {
    words: "history conversation_dir save_dir logs_dir",
    says: "the document is the conversation, and stays where you save it",
  },
  {
    words: "log log_level logLevel verbose debug",
    says: "flemma writes no log; flemma status --last shows the latest messages",
  },
  { words: "plugins plugin extensions", says: "use tools.modules" },
  {
    words: "memory rules rules_file context_files read_files",
    says: "attach files with a reference in the document, for example @./AGENTS.md",
  },
];

const byWord = once(() =>
  new Map(HINTS.flatMap((hint) => hint.words.split(/\s+/).map((word) => [plainly(word), hint] as const)))
);

/** Returns the equivalent of an unknown key, as the end of a sentence; null if the word is unknown. */
export function foreignHint(path: readonly string[], name: string): string | null {
  const whole = byWord().get(plainly([...path, name].join(".")));
  return (whole ?? byWord().get(plainly(name)))?.says ?? null;
}

/** Returns the key of flemma that restricts what a foreign word restricts; null if it restricts nothing. */
export function foreignRestriction(name: string): string | null {
  // A single common word does not prove anything. Compound words and known names for rules do.
  const isRule = /[-_]|[a-z][A-Z]/.test(name) || plainly(name) === "permissions" ||
    plainly(name) === "permission";
  return isRule ? byWord().get(plainly(name))?.restricts ?? null : null;
}

/** Names of tools in other programs, by their name in flemma. */
const FOREIGN_TOOLS: Readonly<Record<string, string>> = {
  bash:
    "shell terminal exec execute execute_command exec_command run_command run_shell_command run_terminal_cmd cmd sh BashTool",
  read: "cat view view_file read_file ReadFile open_file",
  write: "write_file create create_file WriteFile NotebookWrite",
  edit:
    "edit_file str_replace str_replace_editor str_replace_based_edit_tool apply_patch patch MultiEdit replace",
};

const toolByWord = once(() =>
  new Map(
    Object.entries(FOREIGN_TOOLS).flatMap(([tool, words]) =>
      [tool, ...words.split(" ")].map((word) => [plainly(word), tool] as const)
    ),
  )
);

/** Returns the tool that another agent calls by this name. */
export function foreignTool(name: string): string | null {
  return toolByWord().get(plainly(name)) ?? null;
}

function plainly(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}
