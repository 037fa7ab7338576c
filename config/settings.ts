// The tree of settings every room reads. How values get here is the business of layers.

import type { McpServer, SkillSettings } from "./settings/extensions.ts";
import type { Parameters, ProviderSettings } from "./settings/model.ts";
import type { SandboxSettings } from "./settings/sandbox.ts";
import type { ToolSettings } from "./settings/tools.ts";

/** Where the lock of a document lies. */
export type LockPlace = "state" | "beside";

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
