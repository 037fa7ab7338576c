// The commands that set up git for conversations.

import type { Command } from "../spec.ts";
import { HELP, JSON_REPORT, QUIET_RUN } from "./options.ts";

export const GIT_COMMANDS: readonly Command[] = [
  {
    name: "git setup",
    usage: "",
    summary: "set up git to show and merge conversations by message",
    details: "Prints the configuration with which git shows *.chat files readably and merges them.",
    kind: "none",
    arity: [0, 0],
    options: [
      { name: "write", help: "Write the configuration." },
      { name: "undo", help: "Remove the configuration." },
      { name: "global", help: "Configure all your repositories instead of this one." },
      JSON_REPORT,
      QUIET_RUN,
      HELP,
    ],
    example: "flemma git setup --write",
  },
  {
    name: "git merge-driver",
    usage: "BASE OURS THEIRS [SIZE] [PATH]",
    summary: "merge two versions of a conversation into OURS; git runs this",
    details: "Marks conflicting changes in OURS. Nothing runs until you remove the marks.",
    kind: "none",
    arity: [3, 5],
    options: [HELP],
    example: "flemma git merge-driver base.chat ours.chat theirs.chat",
  },
];
