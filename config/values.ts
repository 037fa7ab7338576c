// Types of structured settings values, and of what layers add to single keys.

/** Thinking level; a number is a token budget, `false` and `0` switch thinking off. */
export type ThinkingLevel = "minimal" | "low" | "medium" | "high" | "max" | number | false;

/** How much a model may think before it answers. */
export interface Thinking {
  /** The requested level. */
  readonly level: ThinkingLevel;
  /** What to do with thinking that other providers created. */
  readonly foreign: "preserve" | "drop";
}

/** Parameters of one provider; they override the general ones, whatever layer they come from. */
export type ProviderParameters = Readonly<Record<string, unknown>>;

/**
 * Facts about a model that the person states. They override what the program knows about this model, or about the model
 * named by `like`.
 */
export interface ModelSetting {
  /** The model whose facts apply where this setting has none. @default the model itself, if known */
  readonly like?: string;
  /** Maximum tokens of prompt and reply together. */
  readonly context?: number;
  /** Maximum tokens of a reply. */
  readonly max_output?: number;
  /** How a request for the model configures thinking. */
  readonly thinking?: "adaptive" | "effort" | "budget" | "switch" | "none";
  /** Accepted efforts, weakest first. */
  readonly efforts?: readonly string[];
  /** Thinking type that switches thinking off, for models with `adaptive` thinking. */
  readonly thinking_off?: "disabled" | "between_tools";
  /** Day from which requests fail, such as `2027-01-22`. */
  readonly ends?: string;
  /** Prices in US dollars per million tokens. */
  readonly prices?: {
    readonly input: number;
    readonly output: number;
    readonly cache_read?: number;
    readonly cache_write?: number;
    readonly cache_write_long?: number;
  };
}

/** A writable path; with `create`, it is created if missing. */
export type RwPath = string | { readonly path: string; readonly create?: boolean };

/** An allow list of hosts: `example.org:443`, `*.example.org`, an address or a range of addresses. */
export interface NetworkList {
  /** The hosts that can be reached. */
  readonly allow: readonly string[];
}

/** Limits for one command; absent means unlimited. */
export interface ResourceLimits {
  /** Maximum number of seconds of processor time. */
  readonly cpu_seconds?: number;
  /** Maximum number of bytes of address space of one process. */
  readonly memory?: number;
  /** Maximum number of bytes of one file. */
  readonly file_size?: number;
  /** Maximum number of processes. */
  readonly processes?: number;
  /** Maximum number of open files. */
  readonly open_files?: number;
  /** Size in bytes of a private /tmp that replaces the /tmp of the host. */
  readonly tmp_size?: number;
}

/** Hooks for one event, in the shape of Claude Code. */
export interface HookGroup {
  /** Names of tools, or a regular expression; absent matches all. */
  readonly matcher?: string;
  /** The commands. */
  readonly hooks: readonly HookEntry[];
}

/** One hook. */
export interface HookEntry {
  /** Only `command` runs. */
  readonly type?: string;
  /** The command line of a shell. */
  readonly command?: string;
  /** Seconds; 60 if absent. */
  readonly timeout?: number;
  /** A permission rule that a call must also match, such as `Bash(git push *)`. */
  readonly if?: string;
  /** False to run outside the sandbox. */
  readonly sandbox?: boolean;
  /** Whether the call waits if the hook fails. @default "block" */
  readonly onFailure?: "block" | "allow";
}

/**
 * A preset. Its members about approval apply where a list names the preset; the others apply through `model = "$name"`.
 */
export interface ApprovalPreset {
  /** Names of tools to approve. */
  readonly approve?: readonly string[];
  /** Names of tools to deny. */
  readonly deny?: readonly string[];
  /** The tools to offer after a switch to the preset, as in the setting `tools`. */
  readonly tools?: readonly string[];
  /** The provider to switch to. */
  readonly provider?: string;
  /** The model to switch to. */
  readonly model?: string;
  /** Parameters by their name below `parameters`, as written; a value of `null` clears the parameter. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Instructions to a helper that is asked with the preset. */
  readonly system?: string;
  /** True to give each helper its own git worktree; only your own settings can. @default false */
  readonly worktree?: boolean;
}

/** Presets by name, including the `$`. */
export type Presets = Readonly<Record<string, ApprovalPreset>>;

/** A code file with an approval resolver. */
export interface ResolverFile {
  /** Absolute path of the module. */
  readonly path: string;
  /** Resolvers with a higher priority are asked first. @default 50 */
  readonly priority?: number;
  /** Name of the resolver in decisions. @default the path */
  readonly name?: string;
}

/** An approval policy as code; answers like a resolver. */
export type AutoApproveFunction = (
  tool: string,
  input: Readonly<Record<string, unknown>>,
  context: { readonly toolId: string; readonly document: string | null },
) => unknown;

/** An approval policy: names, `$presets` and module paths, or a function. */
export type AutoApprove = readonly string[] | AutoApproveFunction;

/** The document's own approval policy. */
export interface DocumentApproval {
  /** The complete policy for this document. */
  readonly auto_approve: AutoApprove | null;
  /** Names removed from `auto_approve` that a preset in it may still contain. */
  readonly excluded: readonly string[];
  /** All presets for this document; its own may replace the person's, but only in its own policy. */
  readonly presets: Presets;
  /** True if the document assigned a list, a function or nothing, which is then its complete policy. */
  readonly assigned: boolean;
  /** Tools that the document removed, directly or with a preset. */
  readonly removed: readonly string[];
}

/** What all layers say about tools, in addition to the value of each key. */
export interface ResolvedTools {
  /** Names removed from `auto_approve` that a preset in it may still contain. */
  readonly excluded: readonly string[];
  /** Tools that an untrusted project file denies. */
  readonly denied: readonly string[];
  /** MCP servers of an untrusted project. */
  readonly untrusted_servers: readonly string[];
  /** MCP servers that only the person's own settings define. */
  readonly personal_servers: readonly string[];
  /** Real path of the file with which a project defines MCP servers; null if there is none. */
  readonly servers_file: string | null;
  /** Names, `$presets` and short rules approved for this run only. */
  readonly approved: readonly string[];
  /** The document's changes to `auto_approve`; null if it has none. */
  readonly document: DocumentApproval | null;
  /** The tool list that layers produced; null means every tool not disabled by default. */
  readonly offered: readonly string[] | null;
  /** Names removed from a list that includes every tool registered later; null if `offered` is complete. */
  readonly left_out: readonly string[] | null;
  /** Presets that layers define. */
  readonly presets: Presets;
  /** `tools.NAME`: free settings of one tool. */
  readonly named: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The resolved list of skills. */
export interface ResolvedSkills {
  /** Names; `*` matches any characters. */
  readonly names: readonly string[];
  /** Names to exclude from these. */
  readonly excluded: readonly string[];
}

/** Variables that are credentials because of other settings. */
export interface CredentialVariables {
  /**
   * Variables with keys of the person's own servers. Tools do not get them, just as they do not get the keys of known
   * providers.
   */
  readonly keys: readonly string[];
}

/**
 * Given the name of the person's own server in the settings, returns the name of the environment variable with its key.
 */
export function ownKeyVariable(name: string): string {
  return `${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`;
}
