// The commands that set up git for conversations.

import type { Command } from "../spec.ts";
import { HELP, JSON_REPORT, QUIET_RUN } from "./options.ts";

export const GIT_COMMANDS: readonly Command[] = [
  {
    name: "git setup",
    usage: "",
    summary: "let git show and merge conversations message by message",
    details: "Prints what git needs to show *.chat as it is read, and to merge branches of one.",
    kind: "none",
    arity: [0, 0],
    options: [
      { name: "write", help: "Write them." },
      { name: "undo", help: "Take them back." },
      { name: "global", help: "For all of your repositories instead of this one." },
      JSON_REPORT,
      QUIET_RUN,
      HELP,
    ],
    example: "flemma git setup --write",
  },
  {
    name: "git merge-driver",
    usage: "BASE OURS THEIRS [SIZE] [PATH]",
    summary: "merge two versions of a conversation into OURS; git calls it",
    details: "What both changed stands there between marks; nothing runs until they are gone.",
    kind: "none",
    arity: [3, 5],
    options: [HELP],
    example: "flemma git merge-driver base.chat ours.chat theirs.chat",
  },
];
