// The data model of approval rules, as parsed from `tools.rules` and short forms.

import type { CommandPattern } from "./command_pattern.ts";
import type { PathPattern } from "./path_pattern.ts";

/** A rule, which decides about calls of tools by their input. All given members must match. */
export interface Rule {
  /** The decision for a matching call. */
  readonly decision: "approve" | "ask" | "deny";
  /** Names of tools; `*` for every tool, in rules that ask or deny. */
  readonly tools: readonly string[];
  /** Command patterns, of which the command must match one. */
  readonly command?: readonly CommandPattern[];
  /** Path patterns, of which the path must match one. */
  readonly path?: readonly PathPattern[];
  /** Path patterns; every argument and redirection must match one of them. */
  readonly within?: readonly PathPattern[];
  /** Members of the input, each with its allowed values. */
  readonly input?: Readonly<Record<string, readonly unknown[]>>;
  /** Variables that may be set before a command. */
  readonly env?: readonly string[];
  /** True if patterns with wildcards may begin with a program that runs others. */
  readonly allow_runner?: boolean;
  /** True if the rule applies only to calls that run inside the sandbox. */
  readonly sandboxed?: boolean;
  /** The reason, for the person and, after a denial, for the model. */
  readonly reason?: string;
}

/** A rule with its origin. */
export interface PlacedRule {
  /** The rule itself. */
  readonly rule: Rule;
  /** The rule as written: a table, or the short form. */
  readonly written: unknown;
  /** The setting that contains the rule. */
  readonly key: string;
  /** The layer that contains the rule. */
  readonly layer: "G" | "P" | "R" | "M" | "C";
}
