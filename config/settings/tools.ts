// Settings of tools, their approval and the loop.

import type { PlacedRule } from "../rules/rule.ts";

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
