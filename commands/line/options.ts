// The parsed command line, and typed access to its options.

import type { Command } from "./spec.ts";

export type OptionValue = string | number | boolean | readonly string[];

export interface Arguments {
  readonly command: Command;
  readonly positionals: readonly string[];
  /** Words after `--`, for commands that take a command line as their argument. */
  readonly rest: readonly string[];
  readonly options: ReadonlyMap<string, OptionValue>;
  /** True if the command line names no command, as in `flemma FILE`. @default false */
  readonly isBare?: boolean;
}

/** Returns the text of an option; undefined if the option was not given. */
export function textOption(given: Arguments, name: string): string | undefined {
  const value = given.options.get(name);
  return typeof value === "string" ? value : undefined;
}

/** Returns the number of an option; undefined if the option was not given. */
export function numberOption(given: Arguments, name: string): number | undefined {
  const value = given.options.get(name);
  return typeof value === "number" ? value : undefined;
}

/** Returns whether a switch is on; undefined if it was not given. */
export function switchOption(given: Arguments, name: string): boolean | undefined {
  const value = given.options.get(name);
  return typeof value === "boolean" ? value : undefined;
}

/** Returns all values of an option that may be repeated; empty if it was not given. */
export function listOption(given: Arguments, name: string): readonly string[] {
  const value = given.options.get(name);
  return Array.isArray(value) ? value : [];
}
