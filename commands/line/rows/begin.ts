// The commands to start with, which need no document.

import type { Command } from "../spec.ts";
import { ASK, NEW } from "./conversation.ts";
import { CONFIG, HELP, JSON_REPORT, QUIET_RUN } from "./options.ts";

export const BEGIN_COMMANDS: readonly Command[] = [
  NEW,
  ASK,
  {
    name: "demo",
    usage: "",
    summary: "see the whole cycle on a tiny project, without a key",
    kind: "none",
    arity: [0, 0],
    options: [HELP],
    example: "flemma demo",
  },
  {
    name: "editor",
    usage: "[NAME]",
    summary: "show, install or print the files for an editor",
    details:
      "NAME is vim, neovim, emacs, kakoune, helix or vscode. Without NAME, what is installed for each editor. Without an " +
      "option, what is installed for this one. For micro, nano and vis there are lines for a file of yours, which are printed. Files that you changed are never overwritten unless you say --force, which puts yours beside them.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "install", help: "Put the files where the editor looks, or bring them up to date." },
      { name: "print", help: "Print the files instead." },
      { name: "to", value: "FOLDER", help: "Put them into FOLDER, or look there." },
      {
        name: "force",
        help: "With --install: take new files where you changed them; yours are kept as NAME.yours.",
      },
      JSON_REPORT,
      HELP,
    ],
    example: "flemma editor vim --install",
  },
  {
    name: "doctor",
    usage: "[FILE]",
    summary: "check versions, settings, keys, tools and the sandbox",
    details:
      "Exit code 1 when something of it needs repair, 2 when a settings file is wrong. No key is ever shown.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma doctor",
  },
  {
    name: "import",
    usage: "[FILE]",
    summary: "turn the JSON body of a Messages API request into a document",
    details:
      "Reads FILE, or standard input, and prints the document: model and parameters, the system text, each message.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, QUIET_RUN, HELP],
    example: "flemma import request.json",
  },
];
