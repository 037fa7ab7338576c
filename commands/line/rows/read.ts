// The commands that report on a document and change nothing.

import type { Command } from "../spec.ts";
import { SHOW_COMMAND } from "./show.ts";
import { CONFIG, HELP, JSON_REPORT, NAME } from "./options.ts";

export const READ_COMMANDS: readonly Command[] = [
  {
    name: "status",
    usage: "[FILE…]",
    summary: "show open calls and what the next advance does",
    details: "Of several FILEs one after the other; with --json one value a line.",
    kind: "report",
    arity: [0, Infinity],
    options: [
      { name: "pending", help: "Only what waits for you: FILE:LINE: each call." },
      {
        name: "last",
        standalone: true,
        help: "Show the messages of the last filter run: of FILE, of a piped document, else of all.",
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
    summary: "diagnostics, one a line: FILE:LINE:COL: severity code message",
    details: "Exit code 4 when any of them blocks a request.",
    kind: "report",
    arity: [0, Infinity],
    options: [JSON_REPORT, NAME, ...CONFIG, HELP],
    example: "flemma check notes.chat",
  },
  SHOW_COMMAND,
  {
    name: "recover",
    usage: "[ID]",
    summary: "the text that a failed or killed filter run had in hand",
    details: "Without ID the newest of them. Texts that came out whole are not kept.",
    kind: "none",
    arity: [0, 1],
    options: [{ name: "list", help: "List what is kept instead." }, JSON_REPORT, HELP],
    example: "flemma recover --list",
  },
  {
    name: "parse",
    usage: "[FILE]",
    summary: "the document as JSON",
    kind: "report",
    arity: [0, 1],
    options: [JSON_REPORT, NAME, HELP],
    example: "flemma parse notes.chat --json",
  },
];
