// Made from config/schema/ by scripts/generate/settings/types.ts.

import type { PlacedRule } from "./rules/rule.ts";
import type { AutoApprove, CredentialVariables, HookGroup, ModelSetting, NetworkList, ProviderParameters, ResolvedSkills, ResolvedTools, ResolverFile, ResourceLimits, RwPath, Thinking } from "./values.ts";

/** Request parameters. */
export interface Parameters {
  /** Maximum tokens of a reply: a number, or a percentage of the model's maximum. */
  readonly max_tokens: number | string;
  /** Sampling temperature; not sent if unset. */
  readonly temperature: number | null;
  /** Seconds without data after which a request fails; the whole reply may take longer. 0 means no limit. */
  readonly timeout: number;
  /** Seconds to establish the connection; waiting for the reply does not count. 0 means no limit. */
  readonly connect_timeout: number;
  /** How long the provider caches the prompt. */
  readonly cache_retention: "short" | "long" | "none";
  /** How much the model thinks, and whether requests include thinking from other providers. */
  readonly thinking: Thinking;
  /** Parameters for Anthropic only; they override the general ones. */
  readonly anthropic?: ProviderParameters;
  /** Parameters for OpenAI only; they override the general ones. */
  readonly openai?: ProviderParameters;
  /** Parameters for Vertex AI only; they override the general ones. */
  readonly vertex?: ProviderParameters;
  /** Parameters for Gemini at AI Studio only; they override the general ones. */
  readonly gemini?: ProviderParameters;
  /** Parameters for Moonshot AI only; they override the general ones. */
  readonly moonshot?: ProviderParameters;
  /** Parameters for Chat Completions servers, including your own, only; they override the general ones. */
  readonly openai_chat?: ProviderParameters;
}

/** Settings for one provider. */
export interface ProviderSettings {
  /** Base URL of the API. */
  readonly base_url?: string | null;
  /** Facts about models, by name, such as prices. `like` copies the facts of another model. */
  readonly models?: Readonly<Record<string, ModelSetting>> | null;
  /** Maximum parallel requests from one process, for all its documents together; no limit if unset. */
  readonly max_requests?: number | null;
  /** API of a vendor, or of an entry with a name of your own: Chat Completions, OpenAI's Responses API, or Anthropic's Messages API. */
  readonly kind?: "openai_chat" | "openai" | "anthropic" | null;
  /** Header with the key: `authorization: Bearer KEY`, `x-api-key` or `api-key`. If unset, `x-api-key` for Anthropic's API and `bearer` otherwise. */
  readonly auth?: "bearer" | "x-api-key" | "api-key" | null;
  /** Environment variable with the key, or several in order. If unset, `NAME_API_KEY`, or those of the vendor. */
  readonly key_env?: readonly string[] | null;
  /** Command that prints the API key as its first line: a shell command line, or a list of program and arguments. */
  readonly key_command?: string | readonly string[] | null;
  /** Seconds after which `key_command` runs again; if unset, the key is valid for the whole run. */
  readonly key_ttl?: number | null;
  /** Additional request headers, such as one that names a project. They cannot contain keys. */
  readonly headers?: Record<string, string> | null;
  /** Version of Anthropic's API (`anthropic-version`); `2023-06-01` if unset. */
  readonly api_version?: string | null;
  /** Request field with the token limit for a Chat Completions server; `max_tokens` if unset. */
  readonly max_tokens_key?: "max_tokens" | "max_completion_tokens" | null;
  /** Message field that returns reasoning to a Chat Completions server. `<think>`: before the text, between such tags. */
  readonly reasoning_field?: string | null;
  /** Messages that return their reasoning to a Chat Completions server. If unset, `always`, except to vendors known to refuse it. */
  readonly reasoning_back?: "always" | "tools" | "never" | null;
  /** Request field with the reasoning effort for a Chat Completions server; `reasoning_effort` if unset. `thinking` and `enable_thinking` only switch thinking on or off. */
  readonly reasoning_key?: "reasoning_effort" | "reasoning" | "thinking" | "thinking_and_effort" | "enable_thinking" | null;
  /** Allow several tool calls in one reply of a Chat Completions server; if unset, the server decides. */
  readonly parallel_tool_calls?: boolean | null;
  /** Additional request fields, for every kind of provider; of two objects, the members are merged. */
  readonly extra_body?: Readonly<Record<string, unknown>> | null;
}

/** Environment variables of child processes. */
export interface ToolVariables extends CredentialVariables {
  /** Variables to withhold in addition to credentials: names and `*` patterns. */
  readonly block: readonly string[];
  /** Variables to pass even if they would be withheld. */
  readonly pass: readonly string[];
}

/** Tools: which ones the model gets, which run without asking, and how they run. */
export interface ToolSettings extends ResolvedTools {
  /** Ask about calls that no rule matches; `false` approves them. */
  readonly require_approval: boolean;
  /** Calls that run without asking: tool names, `$presets`, rules such as `bash(git status **)`, paths to modules; in Lua also a function. */
  readonly auto_approve: AutoApprove | null;
  /** Approve tools made for the sandbox, such as bash, if a sandbox works. */
  readonly auto_approve_sandboxed: boolean;
  /** Version of the approval defaults and of their order. */
  readonly approval_profile: "founding" | "v0.11";
  /** Ask if a module in `auto_approve` fails to load. */
  readonly approval_strict: boolean;
  /** Highest risk at which tool files run without asking. */
  readonly auto_approve_risk: "none" | "low" | "medium" | "high";
  /** Rules that approve, ask about or deny commands and paths. Rules of all layers apply; a document's rules may only ask and deny. */
  readonly rules: readonly PlacedRule[];
  /** Additional folders of tool files. */
  readonly dirs: readonly string[];
  /** Built-in tools that a tool file may replace. */
  readonly override: readonly string[];
  /** Time limit for a tool file, in seconds. */
  readonly file_timeout: number;
  /** Environment variables of child processes. */
  readonly env: ToolVariables;
  /** Size limits for results. */
  readonly truncate: {
    /** Maximum lines of a result. */
    readonly max_lines: number;
    /** Maximum bytes of a result. */
    readonly max_bytes: number;
    /** Maximum bytes of the file with the full output. */
    readonly max_file_size: number;
    /** Path of the file with the full output. */
    readonly output_path_format: string;
  };
  /** Files with your own approval resolvers: `{ path, priority, name }`; the default priority is 50. */
  readonly resolvers: readonly ResolverFile[];
  /** Code files that register tools by exporting `definitions` or `resolve`. */
  readonly modules: readonly string[];
  /** Categories of tool files to offer. */
  readonly allowed_categories: readonly string[] | null;
  /** The autopilot, which continues a run without asking. */
  readonly autopilot: {
    /** Continue automatically after results. */
    readonly enabled: boolean;
    /** Maximum replies with tool calls before the autopilot stops. */
    readonly max_turns: number;
    /** How often in a row a call may give the same result before the autopilot stops; 0 means no limit. */
    readonly max_repeats: number;
  };
  /** Background jobs: commands that keep running while the model goes on. */
  readonly jobs: {
    /** Let bash run commands in the background. */
    readonly enabled: boolean;
    /** Maximum background jobs of one document at the same time. */
    readonly max: number;
    /** Seconds that a run waits in total for its jobs after a complete reply, before it stops them. */
    readonly wait: number;
  };
  /** Maximum calls of one document in parallel; 0 means no limit. */
  readonly max_concurrent: number;
  /** Time limit for a tool, in seconds. */
  readonly default_timeout: number;
  /** Where an empty result block shows its status: on the fence or in the header. */
  readonly status_style: "fence" | "header" | "auto";
  /** The cursor line that flemma reports after a result. */
  readonly cursor_after_result: "result" | "stay" | "next";
}

/** The sandbox for shell commands. */
export interface SandboxSettings {
  /** Run tools in the sandbox. */
  readonly enabled: boolean;
  /** The backend: `auto`, `required`, or a name. Only your own settings may name `landlock`. */
  readonly backend: string;
  /** What `urn:flemma:caches` stands for: `private` caches of flemma, or your own cache and data folders, `shared`. */
  readonly home_caches: "private" | "shared";
  /** What commands in the sandbox may do. */
  readonly policy: {
    /** Writable paths; everything else is read-only. */
    readonly rw_paths: readonly RwPath[];
    /** Network access: all hosts, none, or { allow } with a list of hosts. */
    readonly network: boolean | NetworkList;
    /** Let commands keep the superuser's privileges. */
    readonly allow_privileged: boolean;
    /** Host sockets that commands may use: paths or group names. */
    readonly sockets: readonly string[];
    /** Block all local (Unix) sockets. */
    readonly block_unix_sockets: boolean;
    /** Paths that commands cannot read; `$secrets` is a built-in list. */
    readonly deny_read: readonly string[];
    /** Paths that stay read-only inside writable ones; each `$word` is a built-in list. */
    readonly protect: readonly string[];
    /** Resource limits of one command. */
    readonly limits: ResourceLimits | null;
  };
  /** Settings for each backend. */
  readonly backends: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Skills: folders with instructions that the model may load. */
export interface SkillSettings extends ResolvedSkills {
  /** Offer skills to the model. */
  readonly enabled: boolean;
  /** Additional folders with one folder per skill; they take precedence over all other places. */
  readonly dirs: readonly string[];
}

/** Settings for one MCP server. */
export interface McpServer {
  /** Program to start, for a server that uses standard input and output. */
  readonly command?: string | null;
  /** Arguments of the program. @default [] */
  readonly args?: readonly string[] | null;
  /** Environment variables to add. */
  readonly env?: Readonly<Record<string, string>> | null;
  /** Working folder; if unset, the document's folder. */
  readonly cwd?: string | null;
  /** URL of a server that uses HTTP. */
  readonly url?: string | null;
  /** Request headers for that URL. */
  readonly headers?: Readonly<Record<string, string>> | null;
  /** How `flemma auth mcp` signs in to that URL. */
  readonly oauth?: {
    /** Client id that the authorization server knows, or the URL of a client's metadata. */
    readonly client_id: string | null;
    /** Secret of that client. */
    readonly client_secret: string | null;
    /** Scopes to ask for; if unset, those that the server names. */
    readonly scopes: readonly string[] | null;
    /** Port of the callback on this machine; 0 for any. */
    readonly callback_port: number | null;
  };
  /** Offer the tools of this server. @default true */
  readonly enabled?: boolean;
  /** Names of tools to offer; `*` matches any characters. @default ["*"] */
  readonly include?: readonly string[] | null;
  /** Names of tools to leave out; `*` matches any characters. @default [] */
  readonly exclude?: readonly string[] | null;
  /** Time limit for one call, in seconds. @default 60 */
  readonly timeout?: number;
  /** Time limit for starting, in seconds; if unset, 60 for the first start. @default 10 */
  readonly start_timeout?: number;
  /** Start the server in the sandbox. @default true */
  readonly sandbox?: boolean;
}

/** Fetching of web pages by the provider. */
export interface ServerToolSettings {
  /** Offer the tool to the model. A table in your own settings does so too, unless it says `enabled: false`. */
  readonly enabled: boolean;
  /** Maximum number of uses in one request. */
  readonly max_uses: number;
  /** The only domains, with everything below them; if unset, all. */
  readonly allowed_domains: readonly string[] | null;
  /** Domains to leave out, with everything below them. */
  readonly blocked_domains: readonly string[];
}

/** Limits on the context window, and how `flemma compact` works. */
export interface ContextSettings {
  /** Share of the context window from which flemma suggests `flemma compact`. */
  readonly warn_at: number;
  /** Share of the context window from which the autopilot sends no more requests. */
  readonly stop_at: number;
  /** What an unattended run does with a full context window: `stop`, or `compact` the document in place and go on. A document may only choose `stop`. */
  readonly on_full: "stop" | "compact";
  /** Share of the context window from which `context.on_full: compact` compacts. */
  readonly compact_at: number;
  /** Maximum number of compactions in one run. */
  readonly max_compactions: number;
  /** Model that `flemma compact` asks for a summary; if unset, the document's. */
  readonly compact_model: string | null;
  /** Result size in bytes from which `flemma compact --results-only` shortens a result. */
  readonly prune_over: number;
}

/** Limits on one run. */
export interface RunSettings {
  /** Maximum cost in dollars. flemma does not send a request that could exceed it; no limit if unset. */
  readonly max_cost: number | null;
  /** Maximum input and output tokens. flemma does not send a request that could exceed it; no limit if unset. */
  readonly max_tokens: number | null;
  /** Seconds that a run may wait in total for rate limits and outages of providers. With 0, flemma makes the usual six attempts within ten minutes. */
  readonly wait_for_limit: number;
}

/** Bounds on sub-agents: helper documents that a model asks with the tool `ask_document`. */
export interface SubagentSettings {
  /** How deep helpers may ask helpers of their own; 0 forbids all helpers. */
  readonly depth: number;
  /** Maximum helpers of one document that work in parallel. */
  readonly max_concurrent: number;
  /** Maximum questions to helpers in one run, including those that helpers ask. */
  readonly max_calls: number;
  /** Maximum replies with tool calls of a helper to one question. */
  readonly max_turns: number;
}

/** Other models to ask if the provider cannot answer. Their providers receive the conversation. */
export interface FallbackSettings {
  /** Models to ask in turn: `MODEL`, `PROVIDER/MODEL` or a `$preset`. They apply to one reply. */
  readonly models: readonly string[];
  /** When to ask them: if the provider is `overloaded` (529), `unavailable` (500, 502, 503, 504), or if your rate limit is reached (`limited`). */
  readonly on: readonly ("overloaded" | "unavailable" | "limited")[];
}

/** Your own commands around runs: hooks, which may decide about calls, and notifications (`on_…`), which do not. */
export interface HookSettings {
  /** Run hooks. */
  readonly enabled: boolean;
  /** Files from whose member `hooks` hooks are read too, such as `~/.claude/settings.json`. */
  readonly from: readonly string[];
  /** Commands to run before a call; they may deny it, ask you, or approve it, in the shape of Claude Code. */
  readonly PreToolUse: readonly HookGroup[] | null;
  /** Commands to run after a call that succeeded, in the shape of Claude Code. */
  readonly PostToolUse: readonly HookGroup[] | null;
  /** Commands to run after a call that failed, in the shape of Claude Code. */
  readonly PostToolUseFailure: readonly HookGroup[] | null;
  /** Commands to run before your message is sent, in the shape of Claude Code. */
  readonly UserPromptSubmit: readonly HookGroup[] | null;
  /** Commands to run after a complete reply; they may make the model continue, in the shape of Claude Code. */
  readonly Stop: readonly HookGroup[] | null;
  /** How often `Stop` hooks may make the model continue in one run: 3 if unset. The project's count only if this is set. */
  readonly max_continuations: number | null;
  /** What hooks mean that flemma cannot run, such as those of type `prompt`: a notice, or that the calls they match wait. */
  readonly unsupported: "notice" | "wait";
  /** Command to run when a run stops and waits for you: a shell command line, or a list of program and arguments. It gets the path of the document as its last argument (`$1` in a command line) and a line of JSON on standard input. */
  readonly on_pending: string | readonly string[] | null;
  /** Command to run when a run ends with a complete reply: a shell command line, or a list of program and arguments. It gets the path of the document as its last argument (`$1` in a command line) and a line of JSON on standard input. */
  readonly on_done: string | readonly string[] | null;
  /** Command to run when a run fails: a shell command line, or a list of program and arguments. It gets the path of the document as its last argument (`$1` in a command line) and a line of JSON on standard input. */
  readonly on_error: string | readonly string[] | null;
}

/** Instruction files of a project, such as AGENTS.md. */
export interface InstructionSettings {
  /** Which files they may import with `@path`: none, those of the project, also those of your home folder, or all. A project may only choose `off` or `project`. */
  readonly imports: "off" | "project" | "home" | "all";
  /** When a file tool first works in a subfolder, add the instructions of this subfolder to the result. */
  readonly nested: boolean;
}

/** Prices. */
export interface PricingSettings {
  /** Show the cost of requests. */
  readonly enabled: boolean;
  /** Warn about a chosen model above this price: dollars per million tokens, input and output together. */
  readonly high_cost_threshold: number;
}

/** Trust in documents. */
export interface TrustSettings {
  /** What the policy may approve in an untrusted document. */
  readonly documents: "always" | "unsandboxed" | "ask";
  /** Which approvals count: those given on this machine, every one in the text, or only those of `approve`, `review` and editor servers. */
  readonly approvals: "here" | "anywhere" | "commands";
}

/** Limits on Lua code in documents. */
export interface FrontmatterLimits {
  /** Maximum Lua instructions for one document. */
  readonly max_steps: number;
  /** Maximum seconds of Lua for one document. */
  readonly max_seconds: number;
  /** Maximum memory for Lua, in mebibytes. */
  readonly max_memory_mb: number;
}

/** All settings. */
export interface Settings {
  /** The provider: anthropic, openai, vertex, gemini, moonshot, a vendor such as deepseek, openai_chat, or a name defined in `providers`. */
  readonly provider: string;
  /** The model, or a `$preset`; if unset, the provider's default. */
  readonly model: string | null;
  /** The folder in which the document's tools work, relative to the document's folder; if unset, that folder. It must be in the document's project. Project settings and instructions are looked up from it. */
  readonly cwd: string | null;
  /** Send a conversation that ends with the model's message, so that the model continues it. Many models refuse this. */
  readonly prefill: boolean;
  /** Request parameters. */
  readonly parameters: Parameters;
  /** Settings for each provider. */
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Tools: which ones the model gets, which run without asking, and how they run. */
  readonly tools: ToolSettings;
  /** The sandbox for shell commands. */
  readonly sandbox: SandboxSettings;
  /** Skills: folders with instructions that the model may load. */
  readonly skills: SkillSettings;
  /** MCP servers. */
  readonly mcp: {
    /** MCP servers, by name. */
    readonly servers: Readonly<Record<string, McpServer>>;
  };
  /** Tools that the provider runs itself. Queries leave the machine without a question, and results are untrusted text. */
  readonly server_tools: {
    /** Search of the web by the provider. */
    readonly web_search: ServerToolSettings;
    /** Fetching of web pages by the provider. */
    readonly web_fetch: ServerToolSettings;
  };
  /** New documents. */
  readonly new: {
    /** System message for `flemma new`: a text, or the path of a file (`~/…`, `/…`, or `./…` relative to this file). */
    readonly system: string | null;
  };
  /** Single questions with `flemma ask`. */
  readonly ask: {
    /** Folder for the documents of `flemma ask`; if unset, `asks` in the state folder. */
    readonly dir: string | null;
  };
  /** Limits on the context window, and how `flemma compact` works. */
  readonly context: ContextSettings;
  /** Limits on one run. */
  readonly run: RunSettings;
  /** Bounds on sub-agents: helper documents that a model asks with the tool `ask_document`. */
  readonly subagents: SubagentSettings;
  /** Other models to ask if the provider cannot answer. Their providers receive the conversation. */
  readonly fallback: FallbackSettings;
  /** Your own commands around runs: hooks, which may decide about calls, and notifications (`on_…`), which do not. */
  readonly hooks: HookSettings;
  /** Instruction files of a project, such as AGENTS.md. */
  readonly instructions: InstructionSettings;
  /** Files referenced in messages. */
  readonly files: {
    /** Send the text of a file between the lines `<file path="…">` and `</file>`; if off, send only the text. */
    readonly names: boolean;
  };
  /** Templates. */
  readonly templating: {
    /** Run the tags `{{ … }}` and `{% … %}`; if off, send them as text. */
    readonly enabled: boolean;
  };
  /** Sources of credentials. */
  readonly secrets: {
    /** The gcloud command-line program. */
    readonly gcloud: {
      /** Name or path of the program. */
      readonly path: string;
    };
  };
  /** What flemma shows. */
  readonly ui: {
    /** Prices. */
    readonly pricing: PricingSettings;
  };
  /** Trust in documents. */
  readonly trust: TrustSettings;
  /** The lock, which allows one run at a time per document. */
  readonly lock: {
    /** Location of the lock: the state folder, or also the document's folder, if several machines share it. */
    readonly place: "state" | "beside";
  };
  /** Restoring files that tools changed. */
  readonly undo: {
    /** Maximum megabytes of saved file contents, for all documents together; 0 saves nothing. */
    readonly keep: number;
  };
  /** Limits on Lua code in documents. */
  readonly frontmatter: FrontmatterLimits;
}

/** The settings that no layer changes. */
export const DEFAULT_SETTINGS: Settings = {
  provider: "anthropic",
  model: null,
  cwd: null,
  prefill: false,
  parameters: {
    max_tokens: "50%",
    temperature: null,
    timeout: 300,
    connect_timeout: 30,
    cache_retention: "short",
    thinking: {
      level: "high",
      foreign: "preserve"
    }
  },
  providers: {},
  tools: {
    require_approval: true,
    auto_approve: [
      "$default"
    ],
    auto_approve_sandboxed: true,
    approval_profile: "founding",
    approval_strict: false,
    auto_approve_risk: "low",
    rules: [],
    dirs: [],
    override: [],
    file_timeout: 120,
    env: {
      block: [],
      pass: [],
      keys: []
    },
    truncate: {
      max_lines: 2000,
      max_bytes: 51200,
      max_file_size: 67108864,
      output_path_format: "${TMPDIR:-/tmp}/flemma_{{ source }}_{{ path }}_{{ id }}.txt"
    },
    resolvers: [],
    modules: [],
    allowed_categories: null,
    autopilot: {
      enabled: true,
      max_turns: 100,
      max_repeats: 3
    },
    jobs: {
      enabled: true,
      max: 4,
      wait: 0
    },
    max_concurrent: 2,
    default_timeout: 30,
    status_style: "fence",
    cursor_after_result: "result",
    excluded: [],
    denied: [],
    approved: [],
    document: null,
    offered: null,
    left_out: [],
    untrusted_servers: [],
    personal_servers: [],
    servers_file: null,
    presets: {},
    named: {}
  },
  sandbox: {
    enabled: true,
    backend: "auto",
    home_caches: "private",
    policy: {
      rw_paths: [
        "urn:flemma:cwd",
        "urn:flemma:buffer:path",
        "/tmp",
        "${TMPDIR:-/tmp}",
        "urn:flemma:caches"
      ],
      network: true,
      allow_privileged: false,
      sockets: [],
      block_unix_sockets: false,
      deny_read: [],
      protect: [
        "$git",
        "$project",
        "$shell",
        "$data"
      ],
      limits: null
    },
    backends: {
      bwrap: {
        path: "bwrap",
        extra_args: []
      }
    }
  },
  skills: {
    enabled: true,
    dirs: [],
    names: [
      "*"
    ],
    excluded: []
  },
  mcp: {
    servers: {}
  },
  server_tools: {
    web_search: {
      enabled: false,
      max_uses: 5,
      allowed_domains: null,
      blocked_domains: []
    },
    web_fetch: {
      enabled: false,
      max_uses: 5,
      allowed_domains: null,
      blocked_domains: []
    }
  },
  new: {
    system: null
  },
  ask: {
    dir: null
  },
  context: {
    warn_at: 0.8,
    stop_at: 0.95,
    on_full: "stop",
    compact_at: 0.85,
    max_compactions: 2,
    compact_model: null,
    prune_over: 4096
  },
  run: {
    max_cost: null,
    max_tokens: null,
    wait_for_limit: 0
  },
  subagents: {
    depth: 1,
    max_concurrent: 4,
    max_calls: 8,
    max_turns: 20
  },
  fallback: {
    models: [],
    on: [
      "overloaded",
      "unavailable"
    ]
  },
  hooks: {
    enabled: true,
    from: [],
    PreToolUse: null,
    PostToolUse: null,
    PostToolUseFailure: null,
    UserPromptSubmit: null,
    Stop: null,
    max_continuations: null,
    unsupported: "notice",
    on_pending: null,
    on_done: null,
    on_error: null
  },
  instructions: {
    imports: "project",
    nested: true
  },
  files: {
    names: true
  },
  templating: {
    enabled: true
  },
  secrets: {
    gcloud: {
      path: "gcloud"
    }
  },
  ui: {
    pricing: {
      enabled: true,
      high_cost_threshold: 30
    }
  },
  trust: {
    documents: "unsandboxed",
    approvals: "here"
  },
  lock: {
    place: "state"
  },
  undo: {
    keep: 200
  },
  frontmatter: {
    max_steps: 10000000,
    max_seconds: 2,
    max_memory_mb: 64
  }
};
