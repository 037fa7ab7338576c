// The commands that change a document, or undo or cancel what was done for it.

import type { Command, Option } from "../spec.ts";
import {
  APPROVE,
  AUTOPILOT,
  BACKEND,
  CONFIG,
  HELP,
  JOBS,
  JSON_REPORT,
  LIMITS,
  LINE,
  MESSAGES,
  MODEL,
  NAME,
  NO_HOOKS,
  QUIET_RUN,
  RETRY,
  SANDBOX,
  STREAM,
  WAIT,
} from "./options.ts";

const TARGET =
  "A TARGET is a call's id, its number in flemma status, or at least four characters from the start or end of " +
  "its id. ";

const TARGETS: readonly Option[] = [
  { ...LINE, help: "Select the call on line N; a line outside of its blocks selects none." },
  { name: "tool", value: "NAME", help: "Select all pending calls of this tool." },
  { name: "all", help: "Select all pending calls." },
];

const EVENTS: readonly Option[] = [
  { name: "json", help: "With FILE: print each event as a line of JSON." },
  {
    name: "events",
    value: "PATH",
    help: "Write each event as a line of JSON to PATH, stderr or descriptor fd:N.",
  },
  {
    name: "edits",
    help: "As a filter, with --events: also report each change of the text, as whole lines.",
  },
  { name: "cursor", help: "Print the place to continue as FILE:LINE." },
];

const EXIT_CODE: Option = {
  name: "exit-code",
  help: "As a filter: exit with the same codes as for a FILE. Many editors then discard the new text.",
};

const CONTINUE: Option = {
  name: "continue",
  help: "Append a user turn that asks the model to continue.",
};

/** Options that have no use in a run of part of a document. */
const WHOLE_RUN = ["jobs", "autopilot", "max-turns", "approve"];

const HEADERS: Option = {
  name: "headers",
  needs: "dry-run",
  help: "With --dry-run: also print method, URL and headers, without secrets.",
};

/** Options that restrict `advance` to one call or to the request. */
const FORMS: readonly Option[] = [
  {
    name: "only",
    value: "TARGET",
    single: true,
    excludes: ["line", "no-tools", "continue", ...WHOLE_RUN],
    help: "Run or resolve only this call.",
  },
  {
    ...LINE,
    single: true,
    excludes: ["no-tools", "continue", ...WHOLE_RUN],
    help: "Run or resolve only the call at or nearest to line N.",
  },
  {
    name: "no-tools",
    single: true,
    excludes: WHOLE_RUN,
    help: "Only send the request. Fails while calls have no result.",
  },
  {
    name: "dry-run",
    needs: "no-tools",
    help: "With --no-tools: print the exact body of the request instead.",
  },
  HEADERS,
];

const RESOLVES =
  "A rejected or denied call gets its result. Any other call runs, unless policy denies it, and its new result " +
  "replaces the old one.";

/** Options of every command that works on a document. */
const DOCUMENT: readonly Option[] = [NAME, WAIT, ...CONFIG, MESSAGES, QUIET_RUN, HELP];

export const WORK_COMMANDS: readonly Command[] = [
  {
    name: "advance",
    usage: "[FILE…]",
    summary: "run approved calls and ask the model until you are needed",
    details:
      "Each step marks new calls, runs approved ones, sends the results and writes the reply. `flemma FILE` is short for " +
      "`flemma advance FILE`. Without FILE, or with -, the document comes from standard input and goes to standard output. " +
      "For several FILEs the exit code is the worst one (130, 2, 1, 5, 4, 3, 0).",
    kind: "filter",
    arity: [0, Infinity],
    options: [
      CONTINUE,
      JOBS,
      ...FORMS,
      ...AUTOPILOT,
      ...LIMITS,
      SANDBOX,
      BACKEND,
      NO_HOOKS,
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
    summary: "mark calls as approved, without running them",
    details: TARGET +
      "Without a TARGET, selects the only pending call. As a filter, takes only TARGETs: flemma approve call_1.",
    kind: "filter",
    arity: [0, Infinity],
    takesTarget: true,
    options: [
      ...TARGETS,
      {
        name: "always",
        help: "Also approve similar calls in this document for this session: the same command, path or tool.",
      },
      EXIT_CODE,
      ...DOCUMENT,
    ],
    example: "flemma approve notes.chat call_1",
  },
  {
    name: "reject",
    usage: "[FILE] [TARGET…]",
    summary: "mark calls as rejected, with a message to the model",
    details: TARGET +
      "Without a TARGET, selects the only pending call. As a filter, takes only TARGETs: flemma reject call_1.",
    kind: "filter",
    arity: [0, Infinity],
    options: [
      { name: "message", short: "m", value: "TEXT", help: "Send this reason to the model." },
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
    summary: "run or resolve one call",
    sameAs: "advance [FILE] --only TARGET",
    details: RESOLVES,
    kind: "filter",
    arity: [0, 2],
    takesTarget: true,
    options: [
      LINE,
      SANDBOX,
      BACKEND,
      NO_HOOKS,
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
    summary: "send the request without running tools",
    sameAs: "advance [FILE] --no-tools",
    details: "Fails while calls have no result.",
    kind: "filter",
    arity: [0, 1],
    options: [
      CONTINUE,
      { name: "dry-run", help: "Print the exact body of the request instead of sending it." },
      HEADERS,
      NO_HOOKS,
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
    summary: "convert a document to the current format",
    details:
      "Moves the text of a line such as `@You: Hello` below its marker, and writes `flemma:tool status=pending` for " +
      "`flemma:pending` and `server:tool` for `server.tool`. All other bytes and quoted fences stay the same. Nothing runs.",
    kind: "filter",
    arity: [0, 1],
    options: [
      { name: "dry-run", help: "Print the changes as a unified diff instead of making them." },
      { name: "json", help: "With --dry-run: print one JSON value." },
      ...DOCUMENT,
    ],
    example: "flemma migrate --dry-run old.chat",
  },
  {
    name: "review",
    usage: "FILE…",
    summary: "show pending calls one by one, and approve or reject them",
    details:
      "Shows the whole call, a diff of the file it writes, its folder, the text around it and which rule applies. Keys: " +
      "y approve, n reject with a reason, e edit the input in your editor, s add a rule for similar calls in this document " +
      "for this session, a add it to your settings for all documents, k skip, u undo the last step, w explain, q quit. " +
      "Nothing runs. The exit code is 3 while calls are pending.",
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
    "Undoes the changes of FILE's calls, newest first, to files that still have the content that the tool wrote. A TARGET " +
    "is a call's id, the beginning of an id, or the path of a file; without a TARGET, undoes all changes. Changes by bash commands " +
    "cannot be undone. Adds a line about the undo to FILE. The exit code is 1 if a file cannot be restored.",
  kind: "none",
  arity: [1, Infinity],
  options: [
    { name: "list", help: "List the recorded changes." },
    { name: "dry-run", help: "Show what would be restored, without restoring it." },
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
    "Without a TARGET, stops what Ctrl-C would stop: the request, or else the call that started first. A stopped " +
    "call keeps its output so far in its result. The id of a background job stops that job. Without FILE, uses the only document with a run. The exit code is 1 if nothing runs.",
  kind: "none",
  arity: [0, 2],
  options: [
    {
      name: "line",
      value: "N",
      type: "count",
      help: "Stop the call at or nearest to line N, or else what Ctrl-C would stop.",
    },
    { name: "all", help: "Stop the request, every running call and every background job." },
    { name: "list", help: "List running requests, calls and background jobs." },
    JSON_REPORT,
    QUIET_RUN,
    HELP,
  ],
  example: "flemma cancel notes.chat call_1",
};
