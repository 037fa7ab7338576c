// Values of settings that are more than a text, a number or a list of them, and what layers add to single keys.

/** Unified thinking level; a number is a token budget, `false` and `0` switch thinking off. */
export type ThinkingLevel = "minimal" | "low" | "medium" | "high" | "max" | number | false;

/** How much a model may think before it answers. */
export interface Thinking {
  /** The level that is asked for. */
  readonly level: ThinkingLevel;
  /** What becomes of thinking that another provider wrote. */
  readonly foreign: "preserve" | "drop";
}

/** Parameters of one provider; stronger than the general ones whatever layer they come from. */
export type ProviderParameters = Readonly<Record<string, unknown>>;

/** What a person says of a model. It replaces what the program knows of it, or of another that it is like. */
export interface ModelSetting {
  /** The model whose facts hold where nothing else is said. @default the model itself, where it is known */
  readonly like?: string;
  /** Tokens that prompt and reply may have together. */
  readonly context?: number;
  /** Tokens that a reply may have. */
  readonly max_output?: number;
  /** How requests ask it to think. */
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

/** A writable path; with `create` it is made when it is missing. */
export type RwPath = string | { readonly path: string; readonly create?: boolean };

/** `example.org:443`, `*.example.org`, an address or a range of addresses. */
export interface NetworkList {
  /** The hosts that can be reached. */
  readonly allow: readonly string[];
}

/** What one command may use; absent means unlimited. */
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

/** A preset; the members that approval does not need are for `model = "$name"`. */
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

/** Presets by name, each with its `$`. */
export type Presets = Readonly<Record<string, ApprovalPreset>>;

/** A file of code with a resolver of approvals. */
export interface ResolverFile {
  /** Absolute path of the module. */
  readonly path: string;
  /** Resolvers with a higher priority are asked first. @default 50 */
  readonly priority?: number;
  /** Its name in decisions. @default the path */
  readonly name?: string;
}

/** A policy as code: answers like a resolver. */
export type AutoApproveFunction = (
  tool: string,
  input: Readonly<Record<string, unknown>>,
  context: { readonly toolId: string; readonly document: string | null },
) => unknown;

/** A policy of approvals: names, `$presets` and module paths, or a function. */
export type AutoApprove = readonly string[] | AutoApproveFunction;

/** The document's own approval policy. */
export interface DocumentApproval {
  /** The whole policy as it is for this document. */
  readonly auto_approve: AutoApprove | null;
  /** Names taken out of `auto_approve` although a preset in it may hold them. */
  readonly excluded: readonly string[];
  /** All presets for this document; its own may replace the person's, but only in its own policy. */
  readonly presets: Presets;
  /** It assigned a list, a function or nothing; then that is its complete policy. */
  readonly assigned: boolean;
  /** Tools it took out, alone or with a preset. */
  readonly removed: readonly string[];
}

/** What layers together say of tools, besides the value of each key. */
export interface ResolvedTools {
  /** Names taken out of `auto_approve` although a preset in it may hold them. */
  readonly excluded: readonly string[];
  /** Tools that an untrusted project file denies. */
  readonly denied: readonly string[];
  /** Servers of an untrusted project. */
  readonly untrusted_servers: readonly string[];
  /** Names, `$presets` and short rules approved for this run only. */
  readonly approved: readonly string[];
  /** What the document says about `auto_approve`; null when it does not touch it. */
  readonly document: DocumentApproval | null;
  /** The tool list that layers made; null = every tool that is not disabled by default. */
  readonly offered: readonly string[] | null;
  /** What layers took out of a list that includes every tool registered later; null where `offered` is complete. */
  readonly left_out: readonly string[] | null;
  /** Presets that layers define. */
  readonly presets: Presets;
  /** `tools.NAME`: free settings of one tool. */
  readonly named: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The list of skills, resolved. */
export interface ResolvedSkills {
  /** Names, in which `*` stands for any characters. */
  readonly names: readonly string[];
  /** Names that are left out all the same. */
  readonly excluded: readonly string[];
}

/** Variables that other settings make credentials. */
export interface CredentialVariables {
  /** Variables with the keys of the person's own servers; withheld like those of known providers. */
  readonly keys: readonly string[];
}

/** The variable with the key of a person's own server, by the server's name in settings. */
export function ownKeyVariable(name: string): string {
  return `${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`;
}
