// What an approval rule is: the words of `tools.rules` and of the short form, once they are read.

import type { CommandPattern } from "./command_pattern.ts";
import type { PathPattern } from "./path_pattern.ts";

/** A rule: what may be done with which input of which tools. All members that are given must match. */
export interface Rule {
  /** What becomes of a call that matches. */
  readonly decision: "approve" | "ask" | "deny";
  /** Names of tools; `*` for every tool, in rules that ask or deny. */
  readonly tools: readonly string[];
  /** Patterns of which the command must match one. */
  readonly command?: readonly CommandPattern[];
  /** Patterns of which the path must match one. */
  readonly path?: readonly PathPattern[];
  /** Patterns of which every argument and redirection must match one. */
  readonly within?: readonly PathPattern[];
  /** Members of the input, each with the values it may have. */
  readonly input?: Readonly<Record<string, readonly unknown[]>>;
  /** Variables that may be set before a command. */
  readonly env?: readonly string[];
  /** Whether patterns with wildcards may begin with a program that runs others. */
  readonly allow_runner?: boolean;
  /** Whether it counts only for calls that run inside the sandbox. */
  readonly sandboxed?: boolean;
  /** Why, for a person and, after a denial, for the model. */
  readonly reason?: string;
}

/** A rule with the place it was said at. */
export interface PlacedRule {
  /** The rule itself. */
  readonly rule: Rule;
  /** The rule as it was written: a table, or the short form. */
  readonly written: unknown;
  /** The setting that holds it. */
  readonly key: string;
  /** Who said it. */
  readonly layer: "G" | "P" | "R" | "M" | "C";
}
