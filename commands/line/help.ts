// Formats help pages from the table of commands, at most 80 columns wide.

import { EXIT_CODES, VARIABLES } from "./manual.ts";
import { COMMANDS, GROUPS } from "./table.ts";
import type { Command, Option } from "./spec.ts";

/** Columns of the narrowest common terminal. */
const WIDTH = 80;

/** A wider left column gets its text on the line below. */
const WIDEST_LEFT = 26;

type Row = readonly [left: string, text: string];

/** The page of `flemma --help`. */
export function overview(): string {
  const rows = (commands: readonly Command[]): Row[] =>
    commands.map(({ name, summary }) => [name, capital(summary)]);
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  return [
    "flemma: the whole agent loop on plain .chat files, for any editor.",
    "",
    "Usage: flemma COMMAND [FILE] [OPTION…]",
    "       flemma FILE                       the same as: flemma advance FILE",
    "       flemma COMMAND --help             what a command takes, with an example",
    "       flemma --version",
    "",
    ...GROUPS.flatMap(({ title, commands }) => [`${title}:`, ...columns(rows(commands), width), ""]),
    "Exit codes:",
    ...columns(EXIT_CODES.map(([code, meaning]) => [String(code), meaning])),
    "",
    "Environment:",
    ...columns(VARIABLES),
    "",
    ...wrapped(
      "Without FILE, or with -, the document comes from standard input and goes to standard output: so an editor " +
        "runs it as a filter.",
      0,
    ),
    "To begin: flemma new notes.chat",
    "",
  ].join("\n");
}

/** The page of a command, or of a group such as `sandbox`; null if the topic is unknown. */
export function helpFor(topic: string): string | null {
  if (topic === "") return overview();
  const found = COMMANDS.filter(({ name }) => name === topic || name.startsWith(`${topic} `));
  return found.length === 0 ? null : found.map(commandHelp).join("\n");
}

/** The command with its arguments, as on a command line. */
export function synopsis(command: Command): string {
  return `flemma ${command.name} ${command.usage}`.trimEnd();
}

export function optionForm(option: Option): string {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  const long = option.negatable ? `--${option.name} / --no-${option.name}` : `--${option.name}`;
  return short + long + (option.value === undefined ? "" : ` ${option.value}`);
}

/** The description of an option, with its default and whether it may be repeated. */
export function optionText({ help, many, default: standard }: Option): string {
  return [
    help,
    ...(many ? ["May be given several times."] : []),
    ...(standard === undefined ? [] : [`Default: ${standard}.`]),
  ].join(" ");
}

function commandHelp(command: Command): string {
  const { details, summary, options, example } = command;
  return [
    ...wrapped(`${synopsis(command)}: ${summary}.`, 4),
    ...(details === undefined ? [] : ["", ...details.split("\n").flatMap((line) => wrapped(line, 0))]),
    "",
    "Options:",
    ...columns(options.map((option) => [optionForm(option), optionText(option)])),
    "",
    "Example:",
    `  ${example}`,
    "",
  ].join("\n");
}

/** Rows in two columns; below a left cell that is too wide, the text starts on its own line. */
function columns(rows: readonly Row[], width?: number): string[] {
  const fitting = rows.map(([left]) => left.length).filter((length) => length <= WIDEST_LEFT);
  const column = width ?? Math.max(0, ...fitting);
  const indent = 2 + column + 2;
  return rows.flatMap(([left, text]) => {
    const beside = left.length <= column;
    const head = beside ? `  ${left.padEnd(column)}  ` : " ".repeat(indent);
    const [first = "", ...more] = wrapped(head + text, indent);
    return [...(beside ? [] : [`  ${left}`]), first, ...more];
  });
}

/** Wraps a text at `WIDTH` columns; every line but the first starts with `indent` blanks. */
function wrapped(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = text;
  while (line.length > WIDTH) {
    const blank = line.lastIndexOf(" ", WIDTH);
    // A word longer than a line gets its own line.
    const end = line.slice(indent, blank).trim() === "" ? line.indexOf(" ", WIDTH) : blank;
    if (end < 0) break;
    lines.push(line.slice(0, end).trimEnd());
    line = " ".repeat(indent) + line.slice(end + 1);
  }
  return [...lines, line];
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
