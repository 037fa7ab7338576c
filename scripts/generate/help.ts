// The reference page of commands, from the table that the program itself reads.

import { optionForm, overview, synopsis } from "../../commands/line/help.ts";
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
    "| 0 | the command did what it says; in filter mode also when a person is needed |",
    "| 1 | failure: provider, tool machinery, input and output |",
    "| 2 | the command line or a settings file is wrong |",
    "| 3 | a person is needed (in filter mode only with `--exit-code`, or where the last word is the model's); the ids stand on standard error |",
    "| 4 | diagnostics of severity error block the request |",
    "| 5 | the document is in use by another run, or was changed by someone else |",
    "| 130 | interrupted |",
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
    ...options.map((option) => `| \`${optionForm(option)}\` | ${option.help.replaceAll("|", "\\|")} |`),
    "",
    "For example:",
    "",
    "```sh",
    example,
    "```",
    "",
  ];
}
