// The commands that start and continue conversations.

import type { Command, Option } from "../spec.ts";
import {
  APPROVE,
  AUTOPILOT,
  BACKEND,
  CONFIG,
  HELP,
  JSON_REPORT,
  LIMITS,
  MODEL,
  NO_HOOKS,
  QUIET,
  QUIET_RUN,
  SANDBOX,
  WAIT,
} from "./options.ts";

const RUN: readonly Option[] = [...AUTOPILOT, ...LIMITS, SANDBOX, BACKEND, NO_HOOKS, ...MODEL, APPROVE];

export const NEW: Command = {
  name: "new",
  usage: "FILE",
  summary: "create a document",
  details:
    "The document starts with instructions for work on code and an empty question. The instructions include the " +
    "project's AGENTS.md when they are sent; the setting new.system replaces them. With --go, the options of a run apply too.",
  kind: "none",
  arity: [1, 1],
  options: [
    { name: "message", short: "m", value: "TEXT", help: "Use TEXT as the first question." },
    { name: "go", help: "With -m: send it now." },
    { name: "system", value: "TEXT", help: "Use TEXT as the system message." },
    { name: "bare", help: "Start with only the question." },
    ...RUN,
    ...CONFIG,
    QUIET_RUN,
    HELP,
  ],
  example: 'flemma new notes.chat -m "What is in this folder?" --go',
};

export const ASK: Command = {
  name: "ask",
  usage: "[TEXT…]",
  summary: "ask one question; print only the answer",
  details:
    'Piped input is included as quoted text: git diff main | flemma ask "review this". Nothing in it runs or is ' +
    "attached. The conversation is saved as a document, in asks in the state folder or in the folder of the setting " +
    "ask.dir; its path is printed at the end. Tools, project settings and instructions are those of the current folder. " +
    "The exit code is 3 if calls wait for you.",
  kind: "none",
  arity: [0, Infinity],
  options: [
    { name: "last", help: "Continue the last conversation; without TEXT, send its unanswered question." },
    { name: "file", value: "FILE", help: "Ask in the document FILE, and create it if it does not exist." },
    {
      name: "prompt",
      short: "t",
      value: "NAME",
      excludes: ["last", "system"],
      help: "Start from prompts/NAME.chat of your settings or the project.",
    },
    {
      name: "var",
      short: "v",
      value: "NAME=VALUE",
      many: true,
      needs: "prompt",
      help: "Set a variable of the prompt.",
    },
    { name: "tools", value: "LIST", help: "Offer only these tools, separated by commas, or none." },
    { name: "system", value: "TEXT", help: "Use TEXT as the system message." },
    { name: "json", help: "Print one JSON value: reply, document, stop reason and usage." },
    ...RUN,
    WAIT,
    ...CONFIG,
    QUIET_RUN,
    HELP,
  ],
  example: 'flemma ask --last "shorter"',
};

export const LIST: Command = {
  name: "list",
  usage: "",
  summary: "list documents, and search in them",
  details:
    "Lists the documents in this folder, in chats, in .flemma/chats, of flemma ask, and those that flemma made elsewhere; the " +
    "last changed one comes first.",
  kind: "none",
  arity: [0, 0],
  options: [
    { name: "search", value: "WORDS", help: "List only documents that contain all of these words." },
    JSON_REPORT,
    ...CONFIG,
    QUIET,
    HELP,
  ],
  example: "flemma list --search sandbox",
};

export const COMPACT: Command = {
  name: "compact",
  usage: "FILE",
  summary: "continue in a smaller document that starts with a summary",
  details:
    "Asks the model to summarize everything before your last messages. The new document has the beginning of FILE, the " +
    "summary, and the last messages unchanged. FILE stays as it is. Read the summary and correct it where it is wrong.",
  kind: "none",
  arity: [1, 1],
  options: [
    {
      name: "keep",
      value: "N",
      type: "count",
      default: "2",
      help: "Keep your last N messages and everything after them.",
    },
    { name: "to", value: "NEW", default: "NAME.2.chat, then .3", help: "Path of the new document." },
    { name: "instructions", value: "TEXT", help: "What else the summary must contain." },
    {
      name: "results-only",
      help: "Only shorten long results, without a model; save the full results in files.",
    },
    { name: "dry-run", help: "Show what would be summarized, and what would be kept." },
    JSON_REPORT,
    ...LIMITS,
    ...MODEL,
    WAIT,
    ...CONFIG,
    QUIET_RUN,
    HELP,
  ],
  example: "flemma compact notes.chat --dry-run",
};

export const FORK: Command = {
  name: "fork",
  usage: "FILE [NEW]",
  summary: "copy a conversation up to one of its turns",
  details:
    "Without an option, copies up to the last complete reply. Calls without a result are not copied. FILE stays as it " +
    "is. NEW is NAME.fork-1.chat by default.",
  kind: "none",
  arity: [1, 2],
  options: [
    { name: "line", value: "N", type: "count", help: "Copy up to the end of the message at line N." },
    {
      name: "turn",
      value: "N",
      type: "count",
      help: "Copy up to the end of your Nth message, so that you can send it again.",
    },
    JSON_REPORT,
    ...CONFIG,
    QUIET_RUN,
    HELP,
  ],
  example: "flemma fork notes.chat --turn 3",
};
