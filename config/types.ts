// Common types of settings layers: operations on keys, faults, and the draft of a layer that frontmatter writes to
// while it reads all layers.

import type { Outcome } from "../base/problem.ts";

/**
 * A layer, in ascending order of precedence: `D` defaults, `G` global file, `P` project file, `R` session, `M`
 * frontmatter, `C` command line.
 */
export type Layer = "D" | "G" | "P" | "R" | "M" | "C";

export const LAYER_NAMES: Readonly<Record<Layer, string>> = {
  D: "defaults",
  G: "global file",
  P: "project file",
  R: "session",
  M: "frontmatter",
  C: "command line",
};

const RANK: Readonly<Record<Layer, number>> = { D: 0, G: 1, P: 2, R: 3, M: 4, C: 5 };

/** Compares the precedence of two layers; negative if the first layer has the lower one. */
export function compareLayers(a: Layer, b: Layer): number {
  return RANK[a] - RANK[b];
}

export type Op = "set" | "append" | "prepend" | "remove";

/**
 * One step of a layer's log. `path` contains canonical keys, with aliases and dotted names resolved. `["tools"]` with a
 * list or an item is the tool list. `value` is one item for append, prepend and remove, otherwise the whole value in
 * its long form; for an optional key, `null` hides the values of layers with lower precedence.
 */
export interface SettingOperation {
  readonly op: Op;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Maximum number of reported findings of one kind; a layer with more errors still counts as wrong. */
export const MOST_FINDINGS = 100;

export type FaultCode =
  | "config_unknown_key"
  | "config_invalid_value"
  | "config_not_assignable"
  | "config_not_a_list"
  | "config_unknown_operator"
  | "config_unknown_tool"
  | "config_without_effect"
  | "config_ignored_value"
  | "config_old_key";

export interface SettingFault {
  readonly code: FaultCode;
  /**
   * Severity of the fault. With a warning, the other settings take effect; an error blocks the cycle (M) or stops the
   * program (other layers).
   */
  readonly severity: "error" | "warning";
  /** Canonical dotted key, e.g. `parameters.timeout`. */
  readonly key: string;
  /** One full sentence without a period. */
  readonly message: string;
  readonly suggestion?: string;
  /** The keys as written, to find the position in the source. */
  readonly written?: readonly string[];
  /** The keys that lead from the written value to its wrong part. */
  readonly below?: readonly string[];
  /** True if the fault is in the last key of `written` rather than in its value. */
  readonly atKey?: boolean;
  /** The wrong item of the value, to find its position in the source. */
  readonly item?: unknown;
  /** Line of the file, 1-based, if the source provides it. */
  readonly line?: number;
}

/**
 * The kind of a key for readers and writers: `scalar` is one value (maps included); `record` is one value whose members
 * can be read and written separately (`thinking`); `list`; `object` contains further keys; `tools` contains further
 * keys and is also a list.
 */
export type SettingKind = "scalar" | "record" | "list" | "object" | "tools";

/** The answer of a layer, or the fault in the query. */
export type LayerAnswer<T> = Outcome<T, SettingFault>;

/**
 * A layer under construction. Writes are checked immediately and recorded as operations, and reads resolve all layers,
 * including earlier writes. Keys are given as written: aliases work, and a key may contain dots.
 */
export interface LayerDraft {
  readonly layer: Layer;
  /** Operations so far, in order. */
  readonly operations: readonly SettingOperation[];
  /**
   * Warnings about old keys (`config_old_key`), and about writes without effect because this layer may not make them.
   */
  readonly warnings: readonly SettingFault[];
  kind(keys: readonly string[]): LayerAnswer<SettingKind>;
  /** Returns the canonical dotted key, equal for all spellings, or `config_unknown_key`. */
  canonical(keys: readonly string[]): LayerAnswer<string>;
  /**
   * Returns the resolved value: lists as arrays (a function for an assigned `auto_approve`), `null` for no value. Fails
   * with `config_not_assignable` for an object, which has no value of its own.
   */
  read(keys: readonly string[]): LayerAnswer<unknown>;
  /**
   * Checks and applies one write; returns its faults. `set` accepts short forms, `null` (no value) and, for an object,
   * a plain object whose members are set in turn. `append`, `prepend` and `remove` accept one item or an array. Arrays
   * represent sequences; an empty Lua table is `[]`, whatever the key requires. A table with both kinds of keys is an
   * object with its positions as keys `"1"`, `"2"`, …
   */
  apply(op: Op, keys: readonly string[], value: unknown): readonly SettingFault[];
  /** Checks for unknown tools, presets and approval names, which need registries. Call once, after the last write. */
  finish(): readonly SettingFault[];
}

/** Result of running a Lua block, in addition to the operations in the draft. */
export interface ChunkOutcome {
  /** Exported template variables; null if the block raised an error or did not compile. */
  readonly variables: Readonly<Record<string, unknown>> | null;
  /** Everything that ended the block, e.g. a syntax error or a raised configuration fault. */
  readonly problems: readonly ChunkProblem[];
}

/** A fault of the block itself, or of the key whose write ended it. */
export interface ChunkProblem {
  /** `frontmatter_lua_syntax`, `…_undefined_variable`, `…_runtime`, `file_not_found` or a fault code. */
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** Line of the file, 1-based; the block's first line of code is line 2. */
  readonly line?: number;
  /** The key, if a fault ended the block. */
  readonly key?: string;
  readonly suggestion?: string;
}

/** Runs a Lua block against a draft. The engine is loaded only when this is called. */
export type RunChunk = (code: string, draft: LayerDraft) => Promise<ChunkOutcome>;

export interface BuiltinFact {
  readonly name: string;
  /** False for a tool that is offered only if settings name it. */
  readonly enabled?: false;
  /**
   * True if the tool's input is a shell command. Its short rules contain command patterns, and those of other tools
   * path patterns.
   */
  readonly takesCommand?: true;
  /** True if the tool only reads at a path. */
  readonly reads?: true;
  /** What the tool reveals about a folder that it searches: names, or contents of files. */
  readonly searches?: "names" | "contents";
  /** True if the tool's result may be a file reference, which is then attached. */
  readonly givesFiles?: true;
  /** True if the tool's working folder is a setting. */
  readonly hasFolder?: true;
}
