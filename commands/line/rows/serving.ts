// The commands that serve other programs: editors, shells, and anything that saves a document.

import type { Command } from "../spec.ts";
import {
  APPROVE,
  AUTOPILOT,
  CONFIG,
  HELP,
  MESSAGES,
  MODEL,
  QUIET_RUN,
  RETRY,
  SANDBOX,
  STREAM,
} from "./options.ts";

/** Runs documents when any editor saves them. */
export const WATCH: Command = {
  name: "watch",
  usage: "FILE…",
  summary: "advance documents whenever they are saved",
  details:
    "Nothing happens until a save. What you save while a document runs is merged, or comes next; what this program " +
    "writes starts nothing. Saving the same text again tries again what failed. Ctrl-C cancels what runs and ends.",
  kind: "none",
  arity: [1, Infinity],
  options: [
    ...AUTOPILOT,
    SANDBOX,
    ...MODEL,
    APPROVE,
    STREAM,
    RETRY,
    { name: "json", help: "Print each event as a line of JSON, with the document it is about." },
    ...CONFIG,
    MESSAGES,
    QUIET_RUN,
    HELP,
  ],
  example: "flemma watch notes.chat plan.chat",
};

/** Their input and output are for programs, not people. */
export const SERVING_COMMANDS: readonly Command[] = [
  {
    name: "lsp",
    usage: "",
    summary: "a language server for .chat documents, on standard input and output",
    details:
      "Started by an editor. What waits for you is a diagnostic, approve and reject are code actions, and " +
      "flemma.advance is a command. docs/reference/language-server.md says how editors are told of it.",
    kind: "none",
    arity: [0, 0],
    options: [
      { name: "stdio", help: "Speak on standard input and output, as it does anyway: some editors say so." },
      HELP,
    ],
    example: "flemma lsp",
  },
  {
    name: "acp",
    usage: "",
    summary: "an agent for editors that speak the Agent Client Protocol",
    details:
      "Started by an editor. Conversations are documents in .flemma/chats of its folder; what needs you is asked " +
      "there. docs/reference/agent-client-protocol.md says how editors are told of it.",
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
    summary: "a script by which your shell completes command lines",
    details: "Commands, options, files, and the ids of calls of the document in hand with what they ask for.",
    kind: "none",
    arity: [1, 1],
    options: [HELP],
    example: "flemma completions bash",
  },
  {
    name: "complete",
    usage: "-- WORD…",
    summary: "what may stand in the place of the last word; asked by completions",
    kind: "none",
    arity: [0, 0],
    takesCommand: true,
    options: [HELP],
    example: "flemma complete -- approve notes.chat to",
  },
];
