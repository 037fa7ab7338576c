// The help pages about the whole program: one for everyday commands, one for everything.

import { columns, type HelpRow, wrapped } from "./columns.ts";
import { EXIT_CODES, VARIABLES } from "./manual.ts";
import { COMMANDS, GROUPS } from "./table.ts";

/** The commands that `flemma --help` shows, by title. */
export const EVERYDAY: Readonly<Record<string, readonly string[]>> = {
  "Start a conversation": ["new", "ask"],
  "Work on a document": ["advance", "review", "approve", "reject", "cancel", "undo"],
  "Look at a document": ["status", "show"],
  "Set up": ["editor", "doctor"],
};

/** Returns the page of `flemma --help`. */
export function everydayPage(): string {
  const width = Math.max(...Object.values(EVERYDAY).flat().map((name) => name.length));
  return [
    ...wrapped(
      "flemma runs an AI agent on plain-text .chat files. Replies and tool calls are written to the file; you " +
        "edit it in any editor and decide which calls run.",
      0,
    ),
    "",
    "Examples:",
    '  flemma new notes.chat -m "What is in this folder?" --go',
    ...columns([
      ["flemma approve notes.chat", "approve the pending call"],
      ["flemma advance notes.chat", "run approved calls, send the results"],
    ]),
    '  git diff | flemma ask "Review this change"',
    "",
    ...Object.entries(EVERYDAY).flatMap(([title, names]) => [
      `${title}:`,
      ...columns(names.map(rowOf), width),
      "",
    ]),
    "More:",
    ...columns([
      ["flemma COMMAND --help", "options of a command, with an example"],
      ["flemma help all", "all commands, exit codes and environment variables"],
      ["flemma demo", "see a conversation with tool calls, without an API key"],
    ]),
    "",
  ].join("\n");
}

/** Returns the page of `flemma help all`. */
export function fullPage(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  return [
    "Usage: flemma COMMAND [FILE] [OPTION…]",
    ...columns([
      ["flemma FILE", "the same as flemma advance FILE"],
      ["flemma COMMAND --help", "options of a command, with an example"],
      ["flemma --version", "the version"],
    ]),
    "",
    ...wrapped(
      "Without FILE, or with -, flemma is a filter: it reads the document from standard input and writes it to " +
        "standard output. Editors run it this way.",
      0,
    ),
    "",
    ...GROUPS.flatMap(({ title, commands }) => [
      `${title}:`,
      ...columns(commands.map(({ name }) => rowOf(name)), width),
      "",
    ]),
    "Exit codes:",
    ...columns(EXIT_CODES.map(([code, meaning]) => [String(code), meaning])),
    "",
    "Environment:",
    ...columns(VARIABLES),
    "",
  ].join("\n");
}

function rowOf(name: string): HelpRow {
  const { summary, sameAs } = COMMANDS.find((command) => command.name === name)!;
  if (sameAs !== undefined) return [name, `The same as ${sameAs}`];
  return [name, `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}`];
}
