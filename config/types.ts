// The language of settings layers: operations on keys, what can be wrong with one, and the draft of a layer that a
// document's first block writes to while it reads what all layers say.

import type { Outcome } from "../base/problem.ts";

/**
 * A layer, weakest first: `D` defaults, `G` global file, `P` project file, `R` session, `M` frontmatter, `C` command
 * line.
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

/** Negative when the first layer is the weaker one. */
export function compareLayers(a: Layer, b: Layer): number {
  return RANK[a] - RANK[b];
}

export type Op = "set" | "append" | "prepend" | "remove";

/**
 * One step of a layer's log. `path` holds canonical keys: aliases and dotted names are resolved. `["tools"]` with a
 * list or an item is the tool list. `value` is one item for append, prepend and remove, otherwise the whole value in
 * its long form; `null` hides what weaker layers say of an optional key.
 */
export interface Operation {
  readonly op: Op;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Findings of one kind that anybody reads; a layer with more errors is in error all the same. */
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

/** What is wrong with one key of a layer. */
export interface Fault {
  readonly code: FaultCode;
  /** A warning leaves the rest in force; an error blocks the cycle (M) or stops the program (other layers). */
  readonly severity: "error" | "warning";
  /** Canonical dotted key, e.g. `parameters.timeout`. */
  readonly key: string;
  /** One full sentence without a full stop at its end. */
  readonly message: string;
  /** The nearest right word, when there is one. */
  readonly suggestion?: string;
  /** The keys as they were written, to find the place in the source. */
  readonly written?: readonly string[];
  /** Keys below those, where a part of the value is at fault. */
  readonly below?: readonly string[];
  /** The fault is in the last key of `written` rather than in its value. */
  readonly atKey?: boolean;
  /** The one item of the value that is at fault, to find its place in the source. */
  readonly item?: unknown;
  /** Line of the file, 1-based, where the source knows it. */
  readonly line?: number;
}

/**
 * What a key is to somebody who reads and writes it:
 * `scalar` one value (maps included); `record` one value with members that can be read and written alone
 * (`thinking`); `list`; `object` further keys; `tools` further keys and a list of its own.
 */
export type KeyKind = "scalar" | "record" | "list" | "object" | "tools";

/** What a layer answers, or the fault in what it was asked. */
export type Answer<T> = Outcome<T, Fault>;

/**
 * A layer in the making: writes are checked at once and kept as operations, reads resolve all layers including what
 * was written before. Keys are given as written: aliases work, and a key may hold dots.
 */
export interface LayerDraft {
  readonly layer: Layer;
  /** What was written so far, in order. */
  readonly operations: readonly Operation[];
  /** Old keys (`config_old_key`), and writes without effect because this layer may not make them. */
  readonly warnings: readonly Fault[];
  /** What the key is, or `config_unknown_key`. */
  kind(keys: readonly string[]): Answer<KeyKind>;
  /** The canonical dotted key, or `config_unknown_key`: two spellings of one key answer the same. */
  canonical(keys: readonly string[]): Answer<string>;
  /**
   * The resolved value: lists as arrays (a function for an assigned `auto_approve`), `null` for no value. An object
   * answers `config_not_assignable`: it has no value of its own.
   */
  read(keys: readonly string[]): Answer<unknown>;
  /**
   * Checks and applies one write; everything wrong with it, empty when it holds. `set` takes short forms, `null`
   * (no value) and, for an object, a plain object whose members are set in turn. `append`, `prepend` and `remove`
   * take one item or an array. Arrays stand for sequences; an empty table of Lua is `[]`, whatever the key needs.
   * A table with both kinds of keys is an object with its positions as keys `"1"`, `"2"`, …
   */
  apply(op: Op, keys: readonly string[], value: unknown): readonly Fault[];
  /** Checks that need registries: unknown tools, presets and approval names. To be asked once, after the last write. */
  finish(): readonly Fault[];
}

/** What running a Lua block leaves besides the operations in the draft. */
export interface ChunkOutcome {
  /** Exported template variables; null when the block raised or did not compile. */
  readonly variables: Readonly<Record<string, unknown>> | null;
  /** Everything that ended the block, e.g. a syntax error or a raised configuration fault. */
  readonly problems: readonly ChunkProblem[];
}

/** A fault of the block itself, or of the key whose write ended it. */
export interface ChunkProblem {
  /** `frontmatter_lua_syntax`, `frontmatter_undefined_variable`, `frontmatter_runtime`, `file_not_found`, or a fault code. */
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** Line of the file, 1-based; the block's first line of code is line 2. */
  readonly line?: number;
  /** The key, when the block ended because of a fault. */
  readonly key?: string;
  readonly suggestion?: string;
}

/** Runs a Lua block against a draft. The engine stands behind it, loaded only by whoever calls it. */
export type RunChunk = (code: string, draft: LayerDraft) => Promise<ChunkOutcome>;

/** What settings know of one of the program's own tools. */
export interface BuiltinFact {
  readonly name: string;
  /** False for one that is offered only when it is named. */
  readonly enabled?: false;
  /** Whether its input is a shell command: short rules about it hold patterns of commands, others patterns of paths. */
  readonly takesCommand?: true;
  /** Whether it reads at a path, and changes nothing. */
  readonly reads?: true;
  /** What it tells of a folder that it looks through. */
  readonly searches?: "names" | "contents";
  /** Whether its result may be a reference to a file, which is then attached. */
  readonly givesFiles?: true;
  /** Whether the folder it works in is a setting. */
  readonly hasFolder?: true;
}
