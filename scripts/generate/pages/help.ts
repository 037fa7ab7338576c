// The reference page of commands and the manual page, from the table that the program itself reads.

import { optionForm, optionText, overview, synopsis } from "../../../commands/line/help.ts";
import { EXIT_CODES, VARIABLES } from "../../../commands/line/manual.ts";
import { COMMANDS } from "../../../commands/line/table.ts";
import type { Command } from "../../../commands/line/spec.ts";

export function generate(): Promise<{ path: string; text: string }[]> {
  return Promise.resolve([{ path: "docs/commands.md", text: page() }, {
    path: "docs/flemma.1",
    text: manualPage(),
  }]);
}

function page(): string {
  return [
    "# Commands",
    "",
    "This page is made from the same table as `--help`; `deno task generate` writes it.",
    "",
    "```text",
    overview().trimEnd(),
    "```",
    "",
    "## Exit codes",
    "",
    "| code | meaning |",
    "| --- | --- |",
    ...EXIT_CODES.map(([code, meaning]) => `| ${code} | ${meaning} |`),
    "",
    ...COMMANDS.flatMap(section),
  ].join("\n");
}

function section(command: Command): string[] {
  const { name, summary, details, options, example } = command;
  return [
    `## flemma ${name}`,
    "",
    "```text",
    synopsis(command),
    "```",
    "",
    `${summary[0]!.toUpperCase()}${summary.slice(1)}.${details === undefined ? "" : ` ${details}`}`,
    "",
    "| option | effect |",
    "| --- | --- |",
    ...options.map((option) =>
      `| \`${optionForm(option)}\` | ${optionText(option).replaceAll("|", "\\|")} |`
    ),
    "",
    "For example:",
    "",
    "```sh",
    example,
    "```",
    "",
  ];
}

/** The page of `man flemma`. */
function manualPage(): string {
  const command = (each: Command) => [
    `.SS "${roff(synopsis(each))}"`,
    roff(`${each.summary[0]!.toUpperCase()}${each.summary.slice(1)}.`),
    ...(each.details === undefined ? [] : [".PP", roff(each.details)]),
    ...each.options.flatMap((option) => [".TP", `.B ${roff(optionForm(option))}`, roff(optionText(option))]),
    ".PP",
    `Example: ${roff(each.example)}`,
  ];
  const rows = (all: readonly (readonly [unknown, string])[]) =>
    all.flatMap(([name, meaning]) => [".TP", `.B ${roff(String(name))}`, roff(meaning)]);
  return [
    '.\\" Made by deno task generate from the table of commands.',
    ".TH FLEMMA 1",
    ".SH NAME",
    "flemma \\- the whole agent loop on plain .chat files, for any editor",
    ".SH SYNOPSIS",
    ".B flemma",
    "COMMAND [FILE] [OPTION...]",
    ".SH COMMANDS",
    ...COMMANDS.flatMap(command),
    ".SH EXIT STATUS",
    ...rows(EXIT_CODES),
    ".SH ENVIRONMENT",
    ...rows(VARIABLES),
    "",
  ].join("\n");
}

/** A text in which nothing is read as a request of the formatter. */
function roff(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll('"', "\\(dq").replaceAll(
    "…",
    "...",
  );
  return plain.split("\n").map((line) => /^[.']/.test(line) ? `\\&${line}` : line).join("\n");
}
