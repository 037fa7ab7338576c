// Made from config/schema/ by scripts/generate/settings/types.ts.

import type { PlacedRule } from "./rules/rule.ts";
import type { AutoApprove, CredentialVariables, ModelSetting, NetworkList, ProviderParameters, ResolvedSkills, ResolvedTools, ResolverFile, ResourceLimits, RwPath, Thinking } from "./values.ts";

/** Parameters of requests. */
export interface Parameters {
  /** Most tokens of a reply: a number, or a share of what the model can do. */
  readonly max_tokens: number | string;
  /** Sampling temperature; left out of the request when unset. */
  readonly temperature: number | null;
  /** Seconds of silence after which a request is given up; a reply may take as long as it likes. 0: never. */
  readonly timeout: number;
  /** Seconds in which the provider must take the connection; waiting for the reply does not count. 0: no limit. */
  readonly connect_timeout: number;
  /** How long the provider keeps the prompt cached. */
  readonly cache_retention: "short" | "long" | "none";
  /** How much the model thinks, and whether thinking of another provider is sent along. */
  readonly thinking: Thinking;
  /** Parameters for Anthropic alone; they beat the general ones. */
  readonly anthropic?: ProviderParameters;
  /** Parameters for OpenAI alone; they beat the general ones. */
  readonly openai?: ProviderParameters;
  /** Parameters for Vertex AI alone; they beat the general ones. */
  readonly vertex?: ProviderParameters;
  /** Parameters for Gemini at AI Studio alone; they beat the general ones. */
  readonly gemini?: ProviderParameters;
  /** Parameters for Moonshot AI alone; they beat the general ones. */
  readonly moonshot?: ProviderParameters;
  /** Parameters for Chat Completions servers, those of your own among them alone; they beat the general ones. */
  readonly openai_chat?: ProviderParameters;
}

/** One provider. */
export interface ProviderSettings {
  /** Address of its API. */
  readonly base_url?: string | null;
  /** Models by name: what the program shall know of them, such as prices. `like` takes over another one's facts. */
  readonly models?: Readonly<Record<string, ModelSetting>> | null;
  /** Requests that it gets at a time from one process, however many documents that advances; no limit when unset. */
  readonly max_requests?: number | null;
  /** A command that prints the key, its first line counts: a line of shell, or a list of program and arguments. */
  readonly key_command?: string | readonly string[] | null;
  /** Makes a name of your own a Chat Completions server. */
  readonly kind?: "openai_chat" | null;
  /** What a Chat Completions server calls the limit of the reply; `max_tokens` when unset. */
  readonly max_tokens_key?: "max_tokens" | "max_completion_tokens" | null;
  /** The member of messages in which a Chat Completions server gets reasoning back. */
  readonly reasoning_field?: string | null;
  /** Which messages take their reasoning back to a Chat Completions server; `tools`, those of calls in work, when unset. */
  readonly reasoning_back?: "always" | "tools" | "never" | null;
  /** The member of requests that names the effort to a Chat Completions server; `reasoning_effort` when unset. */
  readonly reasoning_key?: "reasoning_effort" | "reasoning" | null;
  /** Whether a Chat Completions server may make several calls in one reply; its own choice when unset. */
  readonly parallel_tool_calls?: boolean | null;
  /** Further members of requests to a Chat Completions server. */
  readonly extra_body?: Readonly<Record<string, unknown>> | null;
}

/** Variables of child processes. */
export interface ToolVariables extends CredentialVariables {
  /** Variables withheld besides the credentials: names and `*` patterns. */
  readonly block: readonly string[];
  /** Variables passed although they would be withheld. */
  readonly pass: readonly string[];
}

/** Tools: which are offered, which run unasked, how they run. */
export interface ToolSettings extends ResolvedTools {
  /** `false` approves every call that nothing else decides. */
  readonly require_approval: boolean;
  /** Calls that run unasked: tool names, `$presets`, rules such as `bash(git status **)`, paths to modules; in Lua also a function. */
  readonly auto_approve: AutoApprove | null;
  /** Approve tools that say so when a working sandbox stands around them. */
  readonly auto_approve_sandboxed: boolean;
  /** Whose defaults and order of approval hold. */
  readonly approval_profile: "founding" | "v0.11";
  /** A module of `auto_approve` that does not load asks a person. */
  readonly approval_strict: boolean;
  /** Risk up to which tool files run unasked. */
  readonly auto_approve_risk: "none" | "low" | "medium" | "high";
  /** Rules over inputs of tools: commands and paths that are approved, asked about or denied. Those of all layers count; a document's may ask and deny. */
  readonly rules: readonly PlacedRule[];
  /** Further folders of tool files. */
  readonly dirs: readonly string[];
  /** Built-in tools that a tool file may replace. */
  readonly override: readonly string[];
  /** Seconds a tool file may run. */
  readonly file_timeout: number;
  /** Variables of child processes. */
  readonly env: ToolVariables;
  /** How long results may be. */
  readonly truncate: {
    /** Lines of a result. */
    readonly max_lines: number;
    /** Bytes of a result. */
    readonly max_bytes: number;
    /** Bytes the file with the whole output may grow to. */
    readonly max_file_size: number;
    /** Where the whole output goes. */
    readonly output_path_format: string;
  };
  /** Files with approval resolvers of your own: `{ path, priority, name }`; priority 50 when it is left out. */
  readonly resolvers: readonly ResolverFile[];
  /** Files of code that register tools: they export `definitions` or `resolve`. */
  readonly modules: readonly string[];
  /** Categories of tool files that are offered. */
  readonly allowed_categories: readonly string[] | null;
  /** Going on without being asked. */
  readonly autopilot: {
    /** Go on by itself after results. */
    readonly enabled: boolean;
    /** Replies with tool calls before it stops. */
    readonly max_turns: number;
    /** How often the same call may bring the same result in a row before it stops; 0 means no limit. */
    readonly max_repeats: number;
  };
  /** Calls of one document that may run at once; 0 means no limit. */
  readonly max_concurrent: number;
  /** Seconds a tool may run. */
  readonly default_timeout: number;
  /** How placeholders spell their status. */
  readonly status_style: "fence" | "header" | "auto";
  /** Which line is reported after a result. */
  readonly cursor_after_result: "result" | "stay" | "next";
}

/** The sandbox around shell commands. */
export interface SandboxSettings {
  /** Run tools inside it. */
  readonly enabled: boolean;
  /** `auto`, `required`, or the name of a backend. */
  readonly backend: string;
  /** What is allowed inside. */
  readonly policy: {
    /** Writable paths; everything else is read-only. */
    readonly rw_paths: readonly RwPath[];
    /** Whether the network can be reached: all of it, none, or { allow } with a list of hosts. */
    readonly network: boolean | NetworkList;
    /** Whether privileges are kept. */
    readonly allow_privileged: boolean;
    /** Host sockets that stay reachable: paths, or names of groups. */
    readonly sockets: readonly string[];
    /** No local sockets at all. */
    readonly block_unix_sockets: boolean;
    /** Paths that cannot be read; `$secrets` stands for a shipped list. */
    readonly deny_read: readonly string[];
    /** Paths that stay read-only inside writable ones; a `$word` stands for a shipped list. */
    readonly protect: readonly string[];
    /** What one command may use. */
    readonly limits: ResourceLimits | null;
  };
  /** Settings of each backend. */
  readonly backends: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Skills: folders with instructions that the model may load. */
export interface SkillSettings extends ResolvedSkills {
  /** Tell the model of skills. */
  readonly enabled: boolean;
  /** Further folders with a folder for each skill; they win over all other places. */
  readonly dirs: readonly string[];
}

/** One server. */
export interface McpServer {
  /** The program that is started, for a server that talks over its pipes. */
  readonly command?: string | null;
  /** Its arguments. @default [] */
  readonly args?: readonly string[] | null;
  /** Variables added to its environment. */
  readonly env?: Readonly<Record<string, string>> | null;
  /** Where it works; the document's folder when unset. */
  readonly cwd?: string | null;
  /** The address of a server that talks over HTTP. */
  readonly url?: string | null;
  /** Headers of requests to that address. */
  readonly headers?: Readonly<Record<string, string>> | null;
  /** Offer its tools. @default true */
  readonly enabled?: boolean;
  /** Names of its tools that are offered; `*` stands for any characters. @default ["*"] */
  readonly include?: readonly string[] | null;
  /** Names of its tools that are left out. @default [] */
  readonly exclude?: readonly string[] | null;
  /** Seconds of one call. @default 60 */
  readonly timeout?: number;
  /** Seconds until it must have started; the first time 60. @default 10 */
  readonly start_timeout?: number;
  /** Start it in the sandbox. @default true */
  readonly sandbox?: boolean;
}

/** How full the window of the model may get, and what becomes of long conversations. */
export interface ContextSettings {
  /** Part of the model's window from which a notice tells what helps. */
  readonly warn_at: number;
  /** Part of the model's window from which the autopilot sends no further request. */
  readonly stop_at: number;
  /** The model that `flemma compact` asks for a summary; the document's when unset. */
  readonly compact_model: string | null;
  /** Bytes from which `flemma compact --results-only` shortens a result. */
  readonly prune_over: number;
}

/** What one run may use. */
export interface RunSettings {
  /** Dollars; the request that could pass it is not sent. No limit when unset. */
  readonly max_cost: number | null;
  /** Tokens, in and out; the same. No limit when unset. */
  readonly max_tokens: number | null;
}

/** Commands of your own that tell you of runs; what they do changes nothing in a run. */
export interface HookSettings {
  /** A command that is started when a run ends because you are needed: a line of shell, or a list of program and arguments. It gets the path of the document as its last argument (`$1` in a line of shell) and a line of JSON on standard input. */
  readonly on_pending: string | readonly string[] | null;
  /** A command that is started when a run ends with a complete reply: a line of shell, or a list of program and arguments. It gets the path of the document as its last argument (`$1` in a line of shell) and a line of JSON on standard input. */
  readonly on_done: string | readonly string[] | null;
  /** A command that is started when a run fails: a line of shell, or a list of program and arguments. It gets the path of the document as its last argument (`$1` in a line of shell) and a line of JSON on standard input. */
  readonly on_error: string | readonly string[] | null;
}

/** Prices. */
export interface PricingSettings {
  /** Show what requests cost. */
  readonly enabled: boolean;
  /** Dollars per million tokens, in and out together, above which a model that is chosen gets a warning. */
  readonly high_cost_threshold: number;
}

/** Whom to believe. */
export interface TrustSettings {
  /** What policy may approve in a stranger's document. */
  readonly documents: "always" | "unsandboxed" | "ask";
}

/** Limits on Lua. */
export interface FrontmatterLimits {
  /** Instructions. */
  readonly max_steps: number;
  /** Seconds. */
  readonly max_seconds: number;
  /** Mebibytes. */
  readonly max_memory_mb: number;
}

/** All settings. */
export interface Settings {
  /** Who is asked: anthropic, openai, vertex, gemini, moonshot, openai_chat, or a name that `providers` makes. */
  readonly provider: string;
  /** The model, or a `$preset`; the provider's default when unset. */
  readonly model: string | null;
  /** Send a conversation whose last word is the model's to models that go on from it; all others refuse it. */
  readonly prefill: boolean;
  /** Parameters of requests. */
  readonly parameters: Parameters;
  /** Where providers are. */
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Tools: which are offered, which run unasked, how they run. */
  readonly tools: ToolSettings;
  /** The sandbox around shell commands. */
  readonly sandbox: SandboxSettings;
  /** Skills: folders with instructions that the model may load. */
  readonly skills: SkillSettings;
  /** Servers of tools that speak MCP. */
  readonly mcp: {
    /** The servers by name. */
    readonly servers: Readonly<Record<string, McpServer>>;
  };
  /** New documents. */
  readonly new: {
    /** The system message that `flemma new` begins with: a text, or the path of a file that holds it (`~/…`, `/…`, or `./…` from the folder of this file). */
    readonly system: string | null;
  };
  /** Single questions. */
  readonly ask: {
    /** The folder in which `flemma ask` makes its documents; `asks` in the state folder when unset. */
    readonly dir: string | null;
  };
  /** How full the window of the model may get, and what becomes of long conversations. */
  readonly context: ContextSettings;
  /** What one run may use. */
  readonly run: RunSettings;
  /** Commands of your own that tell you of runs; what they do changes nothing in a run. */
  readonly hooks: HookSettings;
  /** Files that a message refers to. */
  readonly files: {
    /** Send the text of a file between the lines `<file path="…">` and `</file>`; off sends the bare text. */
    readonly names: boolean;
  };
  /** Templates. */
  readonly templating: {
    /** Run the tags `{{ … }}` and `{% … %}`; off sends them as text. */
    readonly enabled: boolean;
  };
  /** Where credentials come from. */
  readonly secrets: {
    /** The gcloud program. */
    readonly gcloud: {
      /** The program. */
      readonly path: string;
    };
  };
  /** What is shown. */
  readonly ui: {
    /** Prices. */
    readonly pricing: PricingSettings;
  };
  /** Whom to believe. */
  readonly trust: TrustSettings;
  /** One run at a time for each document. */
  readonly lock: {
    /** Where the lock lies: in the state folder, or beside the document too, for machines that share its folder. */
    readonly place: "state" | "beside";
  };
  /** Having back what tools did to files. */
  readonly undo: {
    /** Megabytes that are kept of what files held, for all documents together; 0 keeps nothing. */
    readonly keep: number;
  };
  /** Limits on Lua. */
  readonly frontmatter: FrontmatterLimits;
}

/** The settings that no layer changes. */
export const DEFAULT_SETTINGS: Settings = {
  provider: "anthropic",
  model: null,
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
    presets: {},
    named: {}
  },
  sandbox: {
    enabled: true,
    backend: "auto",
    policy: {
      rw_paths: [
        "urn:flemma:cwd",
        "urn:flemma:buffer:path",
        "/tmp",
        "${TMPDIR:-/tmp}",
        "${XDG_CACHE_HOME:-~/.cache}",
        "${XDG_DATA_HOME:-~/.local/share}"
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
  new: {
    system: null
  },
  ask: {
    dir: null
  },
  context: {
    warn_at: 0.8,
    stop_at: 0.95,
    compact_model: null,
    prune_over: 4096
  },
  run: {
    max_cost: null,
    max_tokens: null
  },
  hooks: {
    on_pending: null,
    on_done: null,
    on_error: null
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
    documents: "unsandboxed"
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
