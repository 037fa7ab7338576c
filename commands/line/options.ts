// The words of a command line after they were read, and how a command asks for them.

import type { Command } from "./spec.ts";

export type OptionValue = string | number | boolean | readonly string[];

export interface Arguments {
  readonly command: Command;
  readonly positionals: readonly string[];
  /** Words after `--`, for commands that take a command line. */
  readonly rest: readonly string[];
  readonly options: ReadonlyMap<string, OptionValue>;
}

/** The text of an option, or undefined when it was not given. */
export function textOption(given: Arguments, name: string): string | undefined {
  const value = given.options.get(name);
  return typeof value === "string" ? value : undefined;
}

/** The number of an option, or undefined. */
export function numberOption(given: Arguments, name: string): number | undefined {
  const value = given.options.get(name);
  return typeof value === "number" ? value : undefined;
}

/** Whether a switch was given; undefined when it was not mentioned at all. */
export function switchOption(given: Arguments, name: string): boolean | undefined {
  const value = given.options.get(name);
  return typeof value === "boolean" ? value : undefined;
}

/** All values of an option that may be given several times. */
export function listOption(given: Arguments, name: string): readonly string[] {
  const value = given.options.get(name);
  return Array.isArray(value) ? value : [];
}
