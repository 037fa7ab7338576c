// The commands that change a document, or undo or cancel what was done for it.

import type { Command, Option } from "../spec.ts";
import {
  APPROVE,
  AUTOPILOT,
  CONFIG,
  HELP,
  JSON_REPORT,
  LIMITS,
  LINE,
  MESSAGES,
  MODEL,
  NAME,
  QUIET_RUN,
  RETRY,
  SANDBOX,
  STREAM,
  WAIT,
} from "./options.ts";

const TARGET =
  "A TARGET is a call's id, its number (flemma status prints it), or four or more characters that its " +
  "id begins or ends with. ";

const TARGETS: readonly Option[] = [
  LINE,
  { name: "tool", value: "NAME", help: "All pending calls of this tool." },
  { name: "all", help: "All pending calls." },
];

const EVENTS: readonly Option[] = [
  { name: "json", help: "With FILE: print each event as a line of JSON." },
  {
    name: "events",
    value: "PATH",
    help: "Write each event as a line of JSON to PATH, to stderr, or to the open descriptor fd:N.",
  },
  {
    name: "edits",
    help: "As a filter, with --events: tell each change of the text too, as whole lines.",
  },
  { name: "cursor", help: "Print FILE:LINE of where to go on." },
];

const EXIT_CODE: Option = {
  name: "exit-code",
  help: "As a filter: the exit codes that a FILE would give, although editors then throw the new text away.",
};

const CONTINUE: Option = {
  name: "continue",
  help: "Let the model go on where it spoke last: writes a turn that says so.",
};

const JOBS: Option = {
  name: "jobs",
  value: "N",
  type: "count",
  default: "1",
  help: "Advance so many of the FILEs at a time.",
};

/** Options of every command that works on a document. */
const DOCUMENT: readonly Option[] = [NAME, WAIT, ...CONFIG, MESSAGES, QUIET_RUN, HELP];

export const WORK_COMMANDS: readonly Command[] = [
  {
    name: "advance",
    usage: "[FILE…]",
    summary: "run approved calls and ask the model until you are needed",
    details:
      "Placeholders are written for new calls, approved calls run, results go out, the reply comes in. " +
      "`flemma FILE` is short for `flemma advance FILE`. Without FILE, or with -, the document comes from " +
      "standard input and goes to standard output. Of several FILEs " +
      "the worst exit code counts (130, 2, 1, 5, 4, 3, 0).",
    kind: "filter",
    arity: [0, Infinity],
    options: [
      CONTINUE,
      JOBS,
      ...AUTOPILOT,
      ...LIMITS,
      SANDBOX,
      ...MODEL,
      APPROVE,
      STREAM,
      RETRY,
      ...EVENTS,
      EXIT_CODE,
      ...DOCUMENT,
    ],
    example: "flemma advance notes.chat",
  },
  {
    name: "approve",
    usage: "[FILE] [TARGET…]",
    summary: "mark calls approved, without running them",
    details: TARGET +
      "Without any, the only pending call is meant. A filter takes TARGETs only: flemma approve call_1.",
    kind: "filter",
    arity: [0, Infinity],
    takesTarget: true,
    options: [
      ...TARGETS,
      {
        name: "always",
        help:
          "Approve calls like these too, for this document until logout: the very command, the path, or the tool.",
      },
      EXIT_CODE,
      ...DOCUMENT,
    ],
    example: "flemma approve notes.chat call_1",
  },
  {
    name: "reject",
    usage: "[FILE] [TARGET…]",
    summary: "mark calls rejected, with a message to the model",
    details: TARGET +
      "Without any, the only pending call is meant. A filter takes TARGETs only: flemma reject call_1.",
    kind: "filter",
    arity: [0, Infinity],
    options: [
      { name: "message", short: "m", value: "TEXT", help: "What the model is told." },
      ...TARGETS,
      EXIT_CODE,
      ...DOCUMENT,
    ],
    takesTarget: true,
    example: 'flemma reject notes.chat call_1 -m "Use the staging host."',
  },
  {
    name: "execute",
    usage: "[FILE] TARGET",
    summary: "run or resolve one call now",
    details:
      "A rejected or denied call gets its answer; any other runs now and its result replaces what stands there, " +
      "unless policy denies it.",
    kind: "filter",
    arity: [0, 2],
    takesTarget: true,
    options: [
      LINE,
      SANDBOX,
      ...LIMITS,
      ...MODEL,
      STREAM,
      RETRY,
      ...EVENTS,
      EXIT_CODE,
      ...DOCUMENT,
    ],
    example: "flemma execute notes.chat call_1",
  },
  {
    name: "send",
    usage: "[FILE]",
    summary: "only ask the model; no tool runs",
    details: "Refuses while calls have no result. --dry-run prints the request body, byte for byte.",
    kind: "filter",
    arity: [0, 1],
    options: [
      CONTINUE,
      { name: "dry-run", help: "Print the body of the request instead of sending it." },
      { name: "headers", help: "With --dry-run: print method, URL and headers too, secrets replaced." },
      ...LIMITS,
      ...MODEL,
      STREAM,
      RETRY,
      ...EVENTS,
      EXIT_CODE,
      ...DOCUMENT,
    ],
    example: "flemma send notes.chat --dry-run",
  },
  {
    name: "migrate",
    usage: "[FILE]",
    summary: "bring a document in older forms to today's",
    details:
      "Puts the text of a line such as `@You: Hello` below its marker, and writes `flemma:tool status=pending` for " +
      "`flemma:pending`. Everything else stays byte for byte, and so does what fences quote. Nothing runs.",
    kind: "filter",
    arity: [0, 1],
    options: [
      { name: "dry-run", help: "Print what would change, as a unified diff, instead of changing it." },
      { name: "json", help: "With --dry-run: print one JSON value." },
      ...DOCUMENT,
    ],
    example: "flemma migrate --dry-run old.chat",
  },
  {
    name: "review",
    usage: "FILE…",
    summary: "show pending calls one by one and decide them",
    details:
      "A dialogue at the terminal: the whole call, a diff of what it would write, the folder it runs in, what stands " +
      "around it and who would decide. Keys: y approve, n reject (with a reason), e edit the input in your editor, s let a " +
      "rule for calls like it hold for this document until logout, a the same for every document, in your settings, k skip, " +
      "u take the last step back, w why, q quit. Nothing runs. Exit code 3 while calls still wait.",
    kind: "none",
    arity: [1, Infinity],
    options: [SANDBOX, ...CONFIG, QUIET_RUN, HELP],
    example: "flemma review notes.chat",
  },
];

export const UNDO: Command = {
  name: "undo",
  usage: "FILE [TARGET…]",
  summary: "restore files changed by write and edit",
  details:
    "Puts back what the calls of FILE changed, the newest first, where a file still holds what the tool left there. A TARGET " +
    "is the id of a call, the beginning of one, or the path of a file; without any, all changes are meant. What commands " +
    "of bash did is not kept. FILE gets a line that says so. Exit code 1 when something could not be put back.",
  kind: "none",
  arity: [1, Infinity],
  options: [
    { name: "list", help: "List what is kept instead." },
    { name: "dry-run", help: "Only tell what would be put back." },
    JSON_REPORT,
    WAIT,
    ...CONFIG,
    QUIET_RUN,
    HELP,
  ],
  example: "flemma undo notes.chat --dry-run",
};

export const CANCEL: Command = {
  name: "cancel",
  usage: "[FILE] [TARGET]",
  summary: "stop a request or call that another process runs",
  details: TARGET +
    "Without any, one thing is cancelled, as by Ctrl-C: the request, else the call that was started first. What " +
    "a call had put out by then stays in its result. Without FILE, the only document that is run now is meant. Exit code 1 " +
    "when nothing runs.",
  kind: "none",
  arity: [0, 2],
  options: [
    {
      name: "line",
      value: "N",
      type: "count",
      help: "The call at or nearest to this line; what comes first, where that one does not run.",
    },
    { name: "all", help: "The request and every running call." },
    { name: "list", help: "List what runs instead." },
    JSON_REPORT,
    QUIET_RUN,
    HELP,
  ],
  example: "flemma cancel notes.chat call_1",
};
