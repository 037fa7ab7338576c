// The commands to start with, which need no document.

import type { Command } from "../spec.ts";
import { ASK, LIST, NEW } from "./conversation.ts";
import { CONFIG, HELP, JSON_REPORT, QUIET_RUN } from "./options.ts";

export const BEGIN_COMMANDS: readonly Command[] = [
  NEW,
  ASK,
  LIST,
  {
    name: "demo",
    usage: "",
    summary: "show a whole conversation with tool calls, without an API key",
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
      "NAME is vim, neovim, emacs, kakoune, helix, vscode, micro, nano or vis. Without an option, shows what is installed " +
      "for NAME, or for every editor. For micro, nano and vis it prints lines to add to your own file. Files that you " +
      "changed are overwritten only with --force.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "install", help: "Install or update the files." },
      { name: "print", help: "Print the files." },
      { name: "to", value: "FOLDER", help: "Use FOLDER instead of the editor's own folder." },
      {
        name: "force",
        help: "With --install: also replace files that you changed; yours stay as NAME.yours.",
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
      "The exit code is 1 if something needs repair, and 2 if a settings file is wrong. Keys are never shown.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma doctor",
  },
  {
    name: "import",
    usage: "[FILE]",
    summary: "convert the JSON of a Messages API request to a document",
    details:
      "Reads FILE or standard input, and prints a document with the model, parameters, system message and messages.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, QUIET_RUN, HELP],
    example: "flemma import request.json",
  },
];
