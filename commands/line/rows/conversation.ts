// The commands that start and continue conversations.

import type { Command, Option } from "../spec.ts";
import {
  APPROVE,
  AUTOPILOT,
  CONFIG,
  HELP,
  JSON_REPORT,
  LIMITS,
  MODEL,
  QUIET_RUN,
  SANDBOX,
  WAIT,
} from "./options.ts";

const RUN: readonly Option[] = [...AUTOPILOT, ...LIMITS, SANDBOX, ...MODEL, APPROVE];

export const NEW: Command = {
  name: "new",
  usage: "FILE",
  summary: "create a document",
  details:
    "It begins with instructions for work on code, made from the tools and the project's AGENTS.md when it is sent " +
    "(the setting new.system names others), and an empty question. The options of a run count with --go.",
  kind: "none",
  arity: [1, 1],
  options: [
    { name: "message", short: "m", value: "TEXT", help: "Write this as the first question." },
    { name: "go", help: "With -m: send it at once." },
    { name: "system", value: "TEXT", help: "Begin with this system message instead." },
    { name: "bare", help: "Begin with the question alone." },
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
    'What is piped in goes along as quoted text, as in: git diff main | flemma ask "review this". Nothing in it is run or ' +
    "attached. The conversation is a document like any " +
    "other, in the folder asks of the state folder or the one that ask.dir names; its path is told at the end. " +
    "Tools work in the folder you ask from. Exit code 3 when calls wait in it.",
  kind: "none",
  arity: [0, Infinity],
  options: [
    { name: "last", help: "Go on in the conversation that was asked in last." },
    { name: "file", value: "FILE", help: "Ask in the document FILE, which is made if there is none." },
    { name: "tools", value: "LIST", help: "Offer only these tools, separated by commas; none offers none." },
    { name: "system", value: "TEXT", help: "Begin with this system message." },
    { name: "json", help: "Print one JSON value: the reply, the document, how the run ended, what it used." },
    ...RUN,
    WAIT,
    ...CONFIG,
    QUIET_RUN,
    HELP,
  ],
  example: 'flemma ask --last "shorter"',
};

export const COMPACT: Command = {
  name: "compact",
  usage: "FILE",
  summary: "go on in a smaller document, with a summary of what is long ago",
  details:
    "Asks the model for a summary of everything before your last messages, and makes a new document: what FILE begins with, " +
    "the summary, the last messages as they are. FILE stays as it is. Both are text: read the summary, and correct it.",
  kind: "none",
  arity: [1, 1],
  options: [
    {
      name: "keep",
      value: "N",
      type: "count",
      default: "2",
      help: "Keep your last N messages and everything since.",
    },
    { name: "to", value: "NEW", default: "NAME.2.chat, then .3", help: "The new document." },
    { name: "instructions", value: "TEXT", help: "What else the summary has to hold." },
    { name: "results-only", help: "Ask no model: shorten long results, and keep all of them in files." },
    { name: "dry-run", help: "Only tell what would be summed up, and what kept." },
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
  summary: "a new document with the conversation up to one of its turns",
  details:
    "Without an option it goes up to the last complete reply. Calls without a result do not come along. FILE stays as it is; " +
    "NEW is NAME.fork-1.chat unless you say otherwise.",
  kind: "none",
  arity: [1, 2],
  options: [
    { name: "line", value: "N", type: "count", help: "Up to the end of the message at this line." },
    { name: "turn", value: "N", type: "count", help: "Up to the end of your Nth message, to ask it anew." },
    JSON_REPORT,
    ...CONFIG,
    QUIET_RUN,
    HELP,
  ],
  example: "flemma fork notes.chat --turn 3",
};
