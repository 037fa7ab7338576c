// Writes the reference page of commands and the manual page, from the table that the program itself uses.

import { descriptionOf, optionForm, optionText, synopsis } from "../../../commands/line/help.ts";
import { EXAMPLES, EXIT_CODES, VARIABLES } from "../../../commands/line/manual.ts";
import { COMMANDS, GROUPS } from "../../../commands/line/table.ts";
import type { Command, Option } from "../../../commands/line/spec.ts";

/** Number of commands from which on a shared option is described only once, and only named at each command. */
const SHARED_BY = 4;

/** Shared options that mostly occur together, and the name of each such group. */
const OPTION_GROUPS: Readonly<Record<string, readonly string[]>> = {
  "settings files": ["config", "no-config"],
  "model options": ["provider", "model", "preset", "param"],
  "limits": ["max-cost", "max-tokens", "wait-limit", "fallback"],
  "filter options": ["name", "wait", "messages"],
};

export function generate(): Promise<{ path: string; text: string }[]> {
  return Promise.resolve([{ path: "docs/reference/commands.md", text: page() }]);
}

function page(): string {
  const shared = sharedOptions();
  return [
    "# Commands",
    "",
    "`deno task generate` writes this page from the table behind `flemma help all`. `flemma FILE` is the same as `flemma advance FILE`.",
    "Without FILE, or with `-`, the document comes from standard input and goes to standard output, so editors run flemma as a filter.",
    "Environment variables are listed in [environment.md](environment.md).",
    "",
    "| for | commands |",
    "| --- | --- |",
    ...GROUPS.map(({ title, commands }) => `| ${title.toLowerCase()} | ${commands.map(link).join(", ")} |`),
    "",
    "## Exit codes",
    "",
    "| code | meaning |",
    "| --- | --- |",
    ...EXIT_CODES.map(([code, meaning]) => `| ${code} | ${meaning} |`),
    "",
    "## Shared options",
    "",
    "Every command takes `--help`. Several commands take the other options; each command names the ones that it takes. These names mean a group:",
    "",
    ...Object.entries(OPTION_GROUPS).map(([name, members]) =>
      `- ${name}: ${members.map(longForm).join(", ")}`
    ),
    "",
    ...table([...shared.values()]),
    "",
    ...COMMANDS.flatMap((command) => section(command, shared)),
  ].join("\n");
}

function link({ name }: Command): string {
  return `[${name}](#flemma-${name.replaceAll(" ", "-")})`;
}

/** Options with the same description in several commands, by name; with two descriptions, the more frequent one. */
function sharedOptions(): Map<string, Option> {
  const uses = new Map<string, { option: Option; count: number }>();
  for (const option of COMMANDS.flatMap(({ options }) => options)) {
    const use = uses.get(row(option)) ?? { option, count: 0 };
    uses.set(row(option), { ...use, count: use.count + 1 });
  }
  const shared = new Map<string, Option>();
  for (const { option, count } of [...uses.values()].sort((a, b) => b.count - a.count)) {
    if (count >= SHARED_BY && !shared.has(option.name)) shared.set(option.name, option);
  }
  return shared;
}

function section(command: Command, shared: ReadonlyMap<string, Option>): string[] {
  const { name, details, options, example, sameAs } = command;
  const isShared = (option: Option) => {
    const same = shared.get(option.name);
    return same !== undefined && row(same) === row(option);
  };
  const own = options.filter((option) => !isShared(option));
  const others = grouped(options.filter(isShared).map((option) => option.name));
  return [
    `## flemma ${name}`,
    "",
    `${descriptionOf(command, "`")}${details === undefined ? "" : ` ${details}`}`,
    "",
    "```sh",
    `# ${synopsis(command)}`,
    example,
    "```",
    "",
    ...(sameAs !== undefined ? [likeAnother(command, sameAs), ""] : [
      ...(own.length === 0 ? [] : [...table(own), ""]),
      ...(others.length === 0 ? [] : [`${own.length === 0 ? "Options" : "Also"}: ${others.join(", ")}.`, ""]),
    ]),
  ];
}

/** The options of a command that does the same as a form of another one. */
function likeAnother({ options }: Command, form: string): string {
  const other = COMMANDS.find(({ name }) => form === name || form.startsWith(`${name} `))!;
  const taken = new Set(options.map(({ name }) => name));
  const missing = other.options.filter(({ name }) => !taken.has(name)).map(({ name }) => longForm(name));
  const except = missing.length === 0 ? "" : `, except ${missing.join(", ")}`;
  return `Options: those of ${link(other)}${except}.`;
}

/** The names of options, with the name of a group in place of all its members; without `--help`. */
function grouped(names: readonly string[]): string[] {
  const groups = Object.entries(OPTION_GROUPS)
    .filter(([, members]) => members.every((member) => names.includes(member)));
  const inGroups = new Set(groups.flatMap(([, members]) => members));
  return [
    ...names.filter((name) => !inGroups.has(name) && name !== "help").map(longForm),
    ...groups.map(([name]) => `*${name}*`),
  ];
}

function longForm(name: string): string {
  return `\`--${name}\``;
}

function table(options: readonly Option[]): string[] {
  return ["| option | effect |", "| --- | --- |", ...options.map(row)];
}

function row(option: Option): string {
  return `| \`${optionForm(option)}\` | ${optionText(option).replaceAll("|", "\\|")} |`;
}

/** Returns the page of `man flemma`. */
export function manualPage(): string {
  const command = (each: Command) => [
    `.SS "${roff(synopsis(each))}"`,
    roff(descriptionOf(each)),
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
    "flemma \\- run an AI agent on plain\\-text .chat files",
    ".SH SYNOPSIS",
    ".B flemma",
    "COMMAND [FILE] [OPTION...]",
    ".SH EXAMPLES",
    ...EXAMPLES.flatMap((
      [meaning, line],
    ) => [".PP", roff(meaning), ".PP", ".RS 4", ".nf", roff(line), ".fi", ".RE"]),
    ".SH DESCRIPTION",
    "Replies and tool calls are written to the file; you edit it in any editor and decide which calls run.",
    ".B flemma",
    "FILE is the same as",
    ".B flemma advance",
    "FILE. Without FILE, or with \\-, the document comes from standard input and goes to standard output.",
    ".SH COMMANDS",
    ...COMMANDS.flatMap(command),
    ".SH EXIT STATUS",
    ...rows(EXIT_CODES),
    ".SH ENVIRONMENT",
    ...rows(VARIABLES),
    "",
  ].join("\n");
}

/** Returns a text that is escaped so that the formatter finds no requests in it. */
function roff(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll('"', "\\(dq").replaceAll(
    "…",
    "...",
  );
  return plain.split("\n").map((line) => /^[.']/.test(line) ? `\\&${line}` : line).join("\n");
}
