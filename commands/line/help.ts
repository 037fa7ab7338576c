// The help page of each topic, from the table of commands.

import { visible } from "../../base/visible.ts";
import { columns, wrapped } from "./columns.ts";
import { everydayPage, fullPage } from "./overview.ts";
import type { Command, Option } from "./spec.ts";
import { suggestName } from "./suggestion.ts";
import { COMMANDS } from "./table.ts";

/**
 * Returns the page about a topic: empty for the everyday commands, `all`, a command, or a group such as `sandbox`;
 * null for any other topic.
 */
export function helpFor(topic: string): string | null {
  if (topic === "") return everydayPage();
  if (topic === "all") return fullPage();
  const found = COMMANDS.filter(({ name }) => name === topic || name.startsWith(`${topic} `));
  return found.length === 0 ? null : found.map(commandHelp).join("\n");
}

/** Returns the error about a topic that `helpFor` does not know. */
export function unknownTopic(topic: string): string {
  const names = COMMANDS.flatMap(({ name }) => [name, name.split(" ")[0]!]);
  const meant = suggestName(topic, [...new Set(names)]);
  const question = meant === undefined ? "" : ` Did you mean ${meant}?`;
  return `flemma: There is no command ${visible(topic)}.${question}\n  All commands: flemma help all\n`;
}

/** Returns one or two sentences: what the command does, and which form of another command does the same. */
export function descriptionOf({ summary, sameAs }: Command, quote = ""): string {
  const sentence = `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`;
  return sameAs === undefined ? sentence : `${sentence} The same as ${quote}flemma ${sameAs}${quote}.`;
}

/** Returns the command with its arguments, as on a command line. */
export function synopsis(command: Command): string {
  return `flemma ${command.name} ${command.usage}`.trimEnd();
}

export function optionForm(option: Option): string {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  const long = option.negatable ? `--${option.name} / --no-${option.name}` : `--${option.name}`;
  return short + long + (option.value === undefined ? "" : ` ${option.value}`);
}

/** Returns the description of an option, with its default and whether it may be repeated. */
export function optionText({ help, many, default: standard }: Option): string {
  return [
    help,
    ...(many ? ["Can be repeated."] : []),
    ...(standard === undefined ? [] : [`Default: ${standard}.`]),
  ].join(" ");
}

function commandHelp(command: Command): string {
  const { details, options, example } = command;
  return [
    ...wrapped(descriptionOf(command), 0),
    "",
    "Usage:",
    `  ${
      synopsis(command.standard ? { ...command, name: command.name.replace(/ (.*)/, " [$1]") } : command)
    }`,
    "",
    "Example:",
    `  ${example}`,
    ...(details === undefined ? [] : ["", ...details.split("\n").flatMap((line) => wrapped(line, 0))]),
    "",
    "Options:",
    ...columns(options.map((option) => [optionForm(option), optionText(option)])),
    "",
  ].join("\n");
}
