// The commands that serve other programs: editors, shells, and anything that saves a document.

import type { Command } from "../spec.ts";
import {
  APPROVE,
  AUTOPILOT,
  CONFIG,
  HELP,
  MESSAGES,
  MODEL,
  NO_HOOKS,
  QUIET_RUN,
  RETRY,
  SANDBOX,
  STREAM,
} from "./options.ts";

/** Command that runs documents when any editor saves them. */
export const WATCH: Command = {
  name: "watch",
  usage: "FILE…",
  summary: "advance documents whenever they are saved",
  details:
    "Nothing happens before the first save. A save during a run is merged or handled next; flemma's own writes start " +
    "nothing. To start with a text that was not sent yet, or to retry after a failure, save the same text again. " +
    "Ctrl-C cancels the run and quits.",
  kind: "none",
  arity: [1, Infinity],
  options: [
    { name: "jobs", value: "N", type: "count", default: "4", help: "Work on N documents in parallel." },
    ...AUTOPILOT,
    SANDBOX,
    NO_HOOKS,
    ...MODEL,
    APPROVE,
    STREAM,
    RETRY,
    { name: "json", help: "Print each event as a line of JSON, with its document." },
    ...CONFIG,
    MESSAGES,
    QUIET_RUN,
    HELP,
  ],
  example: "flemma watch notes.chat plan.chat",
};

/** Commands whose input and output are for programs, not people. */
export const SERVING_COMMANDS: readonly Command[] = [
  {
    name: "lsp",
    usage: "",
    summary: "start a language server on standard input and output",
    details:
      "Editors start it. Calls that wait for you are diagnostics, approve and reject are code actions, and " +
      "flemma.advance is a command. To set up an editor, see docs/reference/language-server.md.",
    kind: "none",
    arity: [0, 0],
    options: [
      { name: "stdio", help: "No effect; some editors pass it." },
      HELP,
    ],
    example: "flemma lsp",
  },
  {
    name: "acp",
    usage: "",
    summary: "start an agent for editors with the Agent Client Protocol",
    details:
      "Editors start it and show its questions. Conversations are documents in .flemma/chats of the editor's folder. " +
      "To set up an editor, see docs/reference/agent-client-protocol.md.",
    kind: "none",
    arity: [0, 0],
    options: [HELP],
    example: "flemma acp",
  },
];

export const SHELL_COMMANDS: readonly Command[] = [
  {
    name: "completions",
    usage: "bash|zsh|fish",
    summary: "print a script that completes command lines in your shell",
    details: "It completes commands, options, files, and the ids of a document's open calls.",
    kind: "none",
    arity: [1, 1],
    options: [HELP],
    example: "flemma completions bash",
  },
  {
    name: "complete",
    usage: "-- WORD…",
    summary: "print completions of the last word; shell scripts run this",
    kind: "none",
    arity: [0, 0],
    takesCommand: true,
    options: [HELP],
    example: "flemma complete -- approve notes.chat to",
  },
];
