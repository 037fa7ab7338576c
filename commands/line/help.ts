// Help pages, written from the table of commands.

import { COMMANDS } from "./table.ts";
import type { Command, Option } from "./spec.ts";

/** The page of `flemma --help`. */
export function overview(): string {
  const width = Math.max(...COMMANDS.map((command) => synopsis(command).length));
  const lines = COMMANDS.map((command) => `  ${synopsis(command).padEnd(width)}  ${command.summary}`);
  return [
    "flemma: the whole agent loop on plain .chat files, for any editor.",
    "",
    "Usage:",
    `  ${"flemma [FILE]".padEnd(width)}  the same as: flemma advance [FILE]`,
    ...lines,
    `  ${"flemma --version".padEnd(width)}  print the version`,
    "",
    "Without FILE, or with -, the document comes from standard input and goes to standard output.",
    "`flemma COMMAND --help` tells more. To begin: flemma new notes.chat",
    "",
  ].join("\n");
}

/** The page of one command, or of a group such as `sandbox`; null when there is none of that name. */
export function helpFor(topic: string): string | null {
  if (topic === "") return overview();
  const found = COMMANDS.filter(({ name }) => name === topic || name.startsWith(`${topic} `));
  return found.length === 0 ? null : found.map(commandHelp).join("\n");
}

export function synopsis(command: Command): string {
  return `flemma ${command.name} ${command.usage}`.trimEnd();
}

/** The left column of an option, e.g. `-m, --message TEXT`. */
export function optionForm(option: Option): string {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  const long = option.negatable ? `--${option.name} / --no-${option.name}` : `--${option.name}`;
  return short + long + (option.value === undefined ? "" : ` ${option.value}`);
}

function commandHelp(command: Command): string {
  const width = Math.max(...command.options.map((option) => optionForm(option).length));
  return [
    `${synopsis(command)}: ${command.summary}.`,
    ...(command.details === undefined ? [] : ["", command.details]),
    "",
    "Options:",
    ...command.options.map((option) => `  ${optionForm(option).padEnd(width)}  ${option.help}`),
    "",
    "Example:",
    `  ${command.example}`,
    "",
  ].join("\n");
}
