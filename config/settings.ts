// The tree of settings every room reads, and its defaults. How values get here is the business of layers.

import type { PlacedRule } from "./rules/rule.ts";

/** Unified thinking level; a number is a token budget, `false` and `0` switch thinking off. */
export type ThinkingLevel = "minimal" | "low" | "medium" | "high" | "max" | number | false;

/** How much a model may think before it answers. */
export interface Thinking {
  /** The level that is asked for. */
  readonly level: ThinkingLevel;
  /** What becomes of thinking that another provider wrote. */
  readonly foreign: "preserve" | "drop";
}

/** Model parameters (providers section 8). Provider tables may repeat every general one. */
export interface Parameters {
  /** Tokens that a reply may have, or a share of what the model allows, such as `50%`. */
  readonly max_tokens: number | string;
  /** How freely the model chooses; null leaves it to the provider. */
  readonly temperature: number | null;
  /** Seconds for the whole reply. */
  readonly timeout: number;
  /** Seconds until the connection stands. */
  readonly connect_timeout: number;
  /** How long the provider keeps the beginning of a conversation at hand. */
  readonly cache_retention: "short" | "long" | "none";
  /** How much the model may think. */
  readonly thinking: Thinking;
  /** Parameters for Anthropic alone. */
  readonly anthropic: ProviderParameters;
  /** Parameters for OpenAI alone. */
  readonly openai?: ProviderParameters;
  /** Parameters for Vertex AI alone. */
  readonly vertex?: ProviderParameters;
  /** Parameters for Gemini at AI Studio alone. */
  readonly gemini?: ProviderParameters;
  /** Parameters for Moonshot alone. */
  readonly moonshot?: ProviderParameters;
  /** Parameters for Chat Completions servers alone. */
  readonly openai_chat?: ProviderParameters;
}

/** Parameters of one provider; stronger than the general ones whatever layer they come from. */
export type ProviderParameters = Readonly<Record<string, unknown>>;

/** What a person tells of a model, over what the program knows of it or of another that it is like. */
export interface ModelSetting {
  /** The model whose facts hold where nothing else is said. @default the model itself, where it is known */
  readonly like?: string;
  /** Tokens that prompt and reply may have together. */
  readonly context?: number;
  /** Tokens that a reply may have. */
  readonly max_output?: number;
  /** How it is told to think. */
  readonly thinking?: "adaptive" | "effort" | "budget" | "switch" | "none";
  /** Dollars per million tokens. */
  readonly prices?: {
    readonly input: number;
    readonly output: number;
    readonly cache_read?: number;
    readonly cache_write?: number;
    readonly cache_write_long?: number;
  };
}

/** Where one provider is, and for servers of the person's own how they like to be asked. */
export interface ProviderSettings {
  /** Address of its API. */
  readonly base_url?: string | null;
  /** What is to be known of its models, by their names. */
  readonly models?: Readonly<Record<string, ModelSetting>> | null;
  /** Requests that it gets at a time from one process; null is no limit. */
  readonly max_requests?: number | null;
  /** The command that prints its key: a line of shell, or a program and its arguments. */
  readonly key_command?: string | readonly string[] | null;
  /** Makes a name that is not built in a Chat Completions server. */
  readonly kind?: "openai_chat" | null;
  /** What the limit of the reply is called. */
  readonly max_tokens_key?: "max_tokens" | "max_completion_tokens" | null;
  /** The member of messages in which reasoning goes back. */
  readonly reasoning_field?: string | null;
  /** Which messages take their reasoning along. */
  readonly reasoning_back?: "always" | "tools" | "never" | null;
  /** The member of requests that names the effort: `reasoning_effort`, or `reasoning` with an `effort` inside. */
  readonly reasoning_key?: "reasoning_effort" | "reasoning" | null;
  /** Whether the model may make several calls in one reply; null leaves it to the server. */
  readonly parallel_tool_calls?: boolean | null;
  /** Further members of requests. */
  readonly extra_body?: Readonly<Record<string, unknown>> | null;
}

/** Where the lock of a document lies. */
export type LockPlace = "state" | "beside";

/** The variable with the key of a server of the person's own, by the name that settings give it. */
export function ownKeyVariable(name: string): string {
  return `${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`;
}

/** A preset as both homes of presets make it; the members that approval does not need are for `model = "$name"`. */
export interface ApprovalPreset {
  /** Names of tools that it approves. */
  readonly approve?: readonly string[];
  /** Names of tools that it denies. */
  readonly deny?: readonly string[];
  /** The provider it switches to. */
  readonly provider?: string;
  /** The model it switches to. */
  readonly model?: string;
  /** Parameters by their name below `parameters`, as written; `null` clears. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

export type Presets = Readonly<Record<string, ApprovalPreset>>;

/** How tools of servers come in through the program mcporter. */
export interface McporterSettings {
  /** Whether it is asked. */
  readonly enabled: boolean;
  /** Name or path of the program. */
  readonly path: string;
  /** Seconds of one call. */
  readonly timeout: number;
  /** How many servers are asked for their tools at once. */
  readonly startup: { readonly concurrency: number };
  /** Tools that are offered, as `server:tool` with `*`; all when empty. */
  readonly include: readonly string[];
  /** Tools that are left out. */
  readonly exclude: readonly string[];
}

/** Settings of tools, their approval and the loop. */
export interface ToolSettings {
  /** Whether a call that no policy approves waits for a person. */
  readonly require_approval: boolean;
  /**
   * The policy of the person: names, `$presets` and module paths, or a function; `null` = no policy at all. What the
   * document says for itself stands in `document`.
   */
  readonly auto_approve: AutoApprove | null;
  /** Names taken out of `auto_approve` although a preset in it may hold them (2.4). */
  readonly excluded: readonly string[];
  /** Tools that a project file denies which nobody trusted yet. */
  readonly denied: readonly string[];
  /** Servers that a project names and the person has not agreed to. */
  readonly untrusted_servers: readonly string[];
  /** Names, `$presets` and rules in their short form approved for this run only. */
  readonly approved: readonly string[];
  /** The rules over inputs that are in force, those in lists and presets among them. */
  readonly rules: readonly PlacedRule[];
  /** What the document says about `auto_approve`; null when it does not touch it. */
  readonly document: DocumentApproval | null;
  /** The tool list that layers made; null = every tool that is not disabled by default. */
  readonly offered: readonly string[] | null;
  /**
   * What layers took out of a list that goes on with every tool that is registered later; null where `offered` is
   * complete.
   */
  readonly left_out: readonly string[] | null;
  /** Files of code that register tools; paths are absolute. */
  readonly modules: readonly string[];
  /** Further folders of tool files. */
  readonly dirs: readonly string[];
  /** Tools that a tool file may take the place of. */
  readonly override: readonly string[];
  /** Seconds that a call of a tool file may take. */
  readonly file_timeout: number;
  /** Categories of tool files that are offered; null offers all, and those without a category. */
  readonly allowed_categories: readonly string[] | null;
  /** The program that brings the servers it knows. */
  readonly mcporter: McporterSettings;
  /** The highest risk of tool files that is approved by itself. */
  readonly auto_approve_risk: "none" | "low" | "medium" | "high";
  /** Whether a working sandbox approves what only acts inside of it. */
  readonly auto_approve_sandboxed: boolean;
  /** Files with approval resolvers of the person; paths are absolute. */
  readonly resolvers: readonly ResolverFile[];
  /** Presets of approvals by name, each with its `$`. */
  readonly presets: Readonly<Record<string, ApprovalPreset>>;
  /** Whose rules of approval hold where founding documents and the plugin differ. */
  readonly approval_profile: "founding" | "v0.11";
  /** Whether a module of resolvers that cannot be used denies instead of asking. */
  readonly approval_strict: boolean;
  /**
   * Whether the loop goes on by itself, after how many replies with calls it stops, and after how many times in a row
   * that the same call brought the same result (0 = never).
   */
  readonly autopilot: {
    readonly enabled: boolean;
    readonly max_turns: number;
    readonly max_repeats: number;
  };
  /** Calls of one document that may run at once; 0 = no limit. */
  readonly max_concurrent: number;
  /** Seconds. */
  readonly default_timeout: number;
  /** How a new placeholder spells its status; `auto` takes what the document has. */
  readonly status_style: "fence" | "header" | "auto";
  /** Where the cursor is asked to go after a result. */
  readonly cursor_after_result: "result" | "stay" | "next";
  /** How much of a tool's output stands in the document, and where the rest goes. */
  readonly truncate: {
    readonly max_lines: number;
    readonly max_bytes: number;
    /** Bytes the overflow file may grow to. */
    readonly max_file_size: number;
    readonly output_path_format: string;
  };
  /** Variables that tools do not see, and ones that they see against the rules. */
  readonly env: {
    readonly block: readonly string[];
    readonly pass: readonly string[];
    /** Variables with the keys of the person's own servers, which are credentials like those of known providers. */
    readonly keys: readonly string[];
  };
  /** `tools.NAME`: free settings of one tool. */
  readonly named: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A file of code with a resolver of approvals. */
export interface ResolverFile {
  /** Absolute path of the module. */
  readonly path: string;
  /** Who is asked first; higher goes before lower. @default 50 */
  readonly priority?: number;
  /** How verdicts call it. @default the path */
  readonly name?: string;
}

/** The document's own approval policy (approval 4.1 and 6). */
export interface DocumentApproval {
  /** The whole policy as it stands for this document. */
  readonly auto_approve: AutoApprove | null;
  /** Names taken out of `auto_approve` although a preset in it may hold them. */
  readonly excluded: readonly string[];
  /** All presets for this document; its own may stand in for the person's, but only in its own policy. */
  readonly presets: Readonly<Record<string, ApprovalPreset>>;
  /** It assigned a list, a function or nothing; then that is its complete policy. */
  readonly assigned: boolean;
  /** Tools it took out, alone or with a preset. */
  readonly removed: readonly string[];
}

/** A policy as code: answers like a resolver. */
export type AutoApproveFunction = (
  tool: string,
  input: Readonly<Record<string, unknown>>,
  context: { readonly toolId: string; readonly document: string | null },
) => unknown;

/** A policy of approvals: names, `$presets` and module paths, or a function. */
export type AutoApprove = readonly string[] | AutoApproveFunction;

/** The wall around tools. */
export interface SandboxSettings {
  /** Whether commands are wrapped at all. */
  readonly enabled: boolean;
  /** `auto`, `required`, or the name of a backend. */
  readonly backend: string;
  /** What is allowed inside. */
  readonly policy: {
    readonly rw_paths: readonly RwPath[];
    /** All of it, none of it, or the listed hosts (sandbox 12.2). */
    readonly network: boolean | NetworkList;
    readonly allow_privileged: boolean;
    /** Host sockets that stay reachable: paths, or names of groups (12.4). */
    readonly sockets?: readonly string[];
    readonly block_unix_sockets?: boolean;
    /** Paths nobody inside may read; `$secrets` stands for the shipped list (12.1). */
    readonly deny_read?: readonly string[];
    /** Paths that stay read-only inside writable ones; a `$word` stands for a shipped list (12.5). */
    readonly protect?: readonly string[];
    readonly limits?: ResourceLimits | null;
  };
  /** Settings of single backends by name. */
  readonly backends: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** `example.org:443`, `*.example.org`, an address or a range of addresses. */
export interface NetworkList {
  /** The hosts that can be reached. */
  readonly allow: readonly string[];
}

/** What one command may use; absent means unlimited (12.3). */
export interface ResourceLimits {
  /** Seconds of processor time. */
  readonly cpu_seconds?: number;
  /** Bytes of address space of one process. */
  readonly memory?: number;
  /** Bytes of one file. */
  readonly file_size?: number;
  /** Number of processes. */
  readonly processes?: number;
  /** Number of open files. */
  readonly open_files?: number;
  /** Bytes of a private /tmp that replaces the host's. */
  readonly tmp_size?: number;
}

/** A writable path; with `create` it is made when it is missing. */
export type RwPath = string | { readonly path: string; readonly create?: boolean };

/** Limits on a document's Lua code. */
export interface FrontmatterLimits {
  /** Steps of the Lua machine. */
  readonly max_steps: number;
  /** Seconds. */
  readonly max_seconds: number;
  /** Memory in units of a million bytes. */
  readonly max_memory_mb: number;
}

/** What policy may approve in a document that this machine has neither written nor trusted (S15). */
export interface TrustSettings {
  /** `always`: as in any other; `unsandboxed`: nothing outside the person's sandbox; `ask`: nothing at all. */
  readonly documents: "always" | "unsandboxed" | "ask";
}

/** A server of tools; with a command it is started, with an address it is asked over HTTP. */
export interface McpServer {
  /** The program. */
  readonly command?: string | null;
  /** Its arguments. @default none */
  readonly args?: readonly string[] | null;
  /** Variables added to its environment. @default none */
  readonly env?: Readonly<Record<string, string>> | null;
  /** Where it works. @default the document's folder */
  readonly cwd?: string | null;
  /** The address. */
  readonly url?: string | null;
  /** Headers of requests. @default none */
  readonly headers?: Readonly<Record<string, string>> | null;
  /** Whether its tools are offered. @default true */
  readonly enabled?: boolean;
  /** Patterns of the names of its tools that are offered. @default all */
  readonly include?: readonly string[] | null;
  /** The same for those that are left out. @default none */
  readonly exclude?: readonly string[] | null;
  /** Seconds of one call. @default 60 */
  readonly timeout?: number;
  /** Seconds until it must have started. @default 10 */
  readonly start_timeout?: number;
  /** Whether it is started in the sandbox. @default true */
  readonly sandbox?: boolean;
}

/** Which skills the model is told of, and where else they lie. */
export interface SkillSettings {
  /** Whether the model is told of any. */
  readonly enabled: boolean;
  /** Names, in which `*` stands for any characters. */
  readonly names: readonly string[];
  /** The same for those that are left out all the same. */
  readonly excluded: readonly string[];
  /** Further folders with a folder for each; relative to the folder of the person's settings. */
  readonly dirs: readonly string[];
}

/** How full a conversation may get, and what is done about long ones. */
export interface ContextSettings {
  /** Part of the model's window, from 0 to 1, from which the person is told. */
  readonly warn_at: number;
  /** The same from which no further request is sent by itself. */
  readonly stop_at: number;
  /** The model that summarises; null takes the document's. */
  readonly compact_model: string | null;
  /** Bytes from which a result is shortened. */
  readonly prune_over: number;
}

/** What one run may use; null is no limit. */
export interface RunSettings {
  /** Dollars. */
  readonly max_cost: number | null;
  /** Tokens in and out. */
  readonly max_tokens: number | null;
}

/** Commands of the person that tell of runs: a line of shell, or a program and its arguments. */
export interface HookSettings {
  /** When the person is needed. */
  readonly on_pending: string | readonly string[] | null;
  /** When a reply is complete. */
  readonly on_done: string | readonly string[] | null;
  /** When a run failed. */
  readonly on_error: string | readonly string[] | null;
}

/** All settings as every room reads them. */
export interface Settings {
  /** Name of the provider that is sent to. */
  readonly provider: string;
  /** Never a `$preset`: that is resolved to the preset's provider, model and parameters. */
  readonly model: string | null;
  /** Whether a conversation whose last word is the model's goes to models that go on from a turn of their own. */
  readonly prefill: boolean;
  /** Parameters of the model. */
  readonly parameters: Parameters;
  /** Where single providers are reached, by name. */
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Where keys come from. */
  readonly secrets: { readonly gcloud: { readonly path: string } };
  /** Files that a message refers to: whether their text carries the path. */
  readonly files: { readonly names: boolean };
  /** Templates: whether tags are run. */
  readonly templating: { readonly enabled: boolean };
  /** Tools, approval and the loop. */
  readonly tools: ToolSettings;
  /** The wall around tools. */
  readonly sandbox: SandboxSettings;
  /** Folders with instructions that the model may load. */
  readonly skills: SkillSettings;
  /** Servers of tools by name. */
  readonly mcp: { readonly servers: Readonly<Record<string, McpServer>> };
  /** What `flemma new` begins with: a system message, or the path of a file that holds it. */
  readonly new: { readonly system: string | null };
  /** Where `flemma ask` makes documents. */
  readonly ask: { readonly dir: string | null };
  /** How full a conversation may get. */
  readonly context: ContextSettings;
  /** What one run may use. */
  readonly run: RunSettings;
  /** What tells of runs. */
  readonly hooks: HookSettings;
  /** Limits on a first block. */
  readonly frontmatter: FrontmatterLimits;
  /** What files held before tools changed them: megabytes that are kept for all documents together; 0 keeps nothing. */
  readonly undo: { readonly keep: number };
  /** Where the lock of a document lies: in the state folder, or beside it too. */
  readonly lock: { readonly place: LockPlace };
  /** Whose documents are believed. */
  readonly trust: TrustSettings;
  /** What is shown to the person. */
  readonly ui: { readonly pricing: PricingSettings };
}

/** What is shown of prices. */
export interface PricingSettings {
  /** Whether costs are shown at all. */
  readonly enabled: boolean;
  /** Dollars per million tokens, in and out together, from which a model that is chosen gets a warning. */
  readonly high_cost_threshold: number;
}

/** The writable paths of a policy nobody touched. Missing ones are left out without a word (sandbox 7.2). */
export const DEFAULT_RW_PATHS: readonly string[] = [
  "urn:flemma:cwd",
  "urn:flemma:buffer:path",
  "/tmp",
  "${TMPDIR:-/tmp}",
  "${XDG_CACHE_HOME:-~/.cache}",
  "${XDG_DATA_HOME:-~/.local/share}",
];

/** The shipped lists of paths that stay read-only inside writable ones. */
export const DEFAULT_PROTECT: readonly string[] = ["$git", "$project", "$shell", "$data"];

/** What holds when no layer says anything. */
export const DEFAULT_SETTINGS: Settings = {
  provider: "anthropic",
  model: null,
  prefill: false,
  files: { names: true },
  templating: { enabled: true },
  parameters: {
    max_tokens: "50%",
    temperature: null,
    timeout: 300,
    connect_timeout: 30,
    cache_retention: "short",
    thinking: { level: "high", foreign: "preserve" },
    anthropic: {},
  },
  providers: {},
  secrets: { gcloud: { path: "gcloud" } },
  tools: {
    require_approval: true,
    auto_approve: ["$default"],
    excluded: [],
    denied: [],
    untrusted_servers: [],
    approved: [],
    rules: [],
    document: null,
    offered: null,
    left_out: [],
    modules: [],
    dirs: [],
    override: [],
    file_timeout: 120,
    allowed_categories: null,
    mcporter: {
      enabled: false,
      path: "mcporter",
      timeout: 60,
      startup: { concurrency: 4 },
      include: [],
      exclude: [],
    },
    auto_approve_risk: "low",
    auto_approve_sandboxed: true,
    resolvers: [],
    presets: {},
    approval_profile: "founding",
    approval_strict: false,
    autopilot: { enabled: true, max_turns: 100, max_repeats: 3 },
    max_concurrent: 2,
    default_timeout: 30,
    status_style: "fence",
    cursor_after_result: "result",
    truncate: {
      max_lines: 2000,
      max_bytes: 51200,
      max_file_size: 64 * 1024 * 1024,
      output_path_format: "${TMPDIR:-/tmp}/flemma_{{ source }}_{{ path }}_{{ id }}.txt",
    },
    env: { block: [], pass: [], keys: [] },
    named: {},
  },
  sandbox: {
    enabled: true,
    backend: "auto",
    policy: {
      rw_paths: DEFAULT_RW_PATHS,
      network: true,
      allow_privileged: false,
      sockets: [],
      block_unix_sockets: false,
      deny_read: [],
      protect: DEFAULT_PROTECT,
      limits: null,
    },
    backends: { bwrap: { path: "bwrap", extra_args: [] } },
  },
  mcp: { servers: {} },
  skills: { enabled: true, names: ["*"], excluded: [], dirs: [] },
  new: { system: null },
  ask: { dir: null },
  context: { warn_at: 0.8, stop_at: 0.95, compact_model: null, prune_over: 4096 },
  run: { max_cost: null, max_tokens: null },
  hooks: { on_pending: null, on_done: null, on_error: null },
  frontmatter: { max_steps: 10_000_000, max_seconds: 2, max_memory_mb: 64 },
  undo: { keep: 200 },
  lock: { place: "state" },
  trust: { documents: "unsandboxed" },
  ui: { pricing: { enabled: true, high_cost_threshold: 30 } },
};
