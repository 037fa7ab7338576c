// The reference page of commands, from the table that the program itself reads.

import { optionForm, optionText, overview, synopsis } from "../../commands/line/help.ts";
import { EXIT_CODES } from "../../commands/line/manual.ts";
import { COMMANDS } from "../../commands/line/table.ts";
import type { Command } from "../../commands/line/spec.ts";

export function generate(): Promise<{ path: string; text: string }[]> {
  return Promise.resolve([{ path: "docs/commands.md", text: page() }]);
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
