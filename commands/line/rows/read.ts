// The commands that report on a document and change nothing.

import type { Command } from "../spec.ts";
import { SHOW_COMMAND } from "./show.ts";
import { CONFIG, HELP, JSON_REPORT, NAME } from "./options.ts";

export const READ_COMMANDS: readonly Command[] = [
  {
    name: "status",
    usage: "[FILE…]",
    summary: "show open calls and what the next advance does",
    details: "With several FILEs, reports one after the other; with --json, one value a line.",
    kind: "report",
    arity: [0, Infinity],
    options: [
      { name: "pending", help: "Show only calls that wait for you, as FILE:LINE: CALL." },
      {
        name: "last",
        standalone: true,
        help: "Show the messages of the last filter run: of FILE, of the piped document, or of any document.",
      },
      JSON_REPORT,
      NAME,
      ...CONFIG,
      HELP,
    ],
    example: "flemma status notes.chat",
  },
  {
    name: "check",
    usage: "[FILE…]",
    summary: "list diagnostics as FILE:LINE:COL: severity code message",
    details: "The exit code is 4 if one of them blocks a request.",
    kind: "report",
    arity: [0, Infinity],
    options: [JSON_REPORT, NAME, ...CONFIG, HELP],
    example: "flemma check notes.chat",
  },
  SHOW_COMMAND,
  {
    name: "recover",
    usage: "[ID]",
    summary: "print the text of a failed or killed filter run",
    details:
      "Without ID, prints the newest one. flemma does not keep a text that a filter printed completely.",
    kind: "none",
    arity: [0, 1],
    options: [{ name: "list", help: "List the saved texts." }, JSON_REPORT, HELP],
    example: "flemma recover --list",
  },
  {
    name: "parse",
    usage: "[FILE]",
    summary: "print the document as JSON",
    kind: "report",
    arity: [0, 1],
    options: [JSON_REPORT, NAME, HELP],
    example: "flemma parse notes.chat --json",
  },
];
