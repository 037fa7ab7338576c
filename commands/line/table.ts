// Every command and option, once: parsing, --help, suggestions and the reference page all read this table.

import type { Command, CommandGroup, Option } from "./spec.ts";
import { ASK, COMPACT, FORK, NEW } from "./rows/conversation_table.ts";
import { SKILL_COMMANDS } from "./rows/extension_table.ts";
import { APPROVE, AUTOPILOT, LIMITS, MODEL, SANDBOX } from "./option_groups.ts";
import { PROVIDER_COMMANDS } from "./provider_table.ts";
import { SERVING_COMMANDS, SHELL_COMMANDS, WATCH } from "./serving_table.ts";
import { SHOW_COMMAND } from "./rows/show_table.ts";
import { SANDBOX_SWITCHES, SETTINGS_COMMANDS } from "./settings_table.ts";

const HELP: Option = { name: "help", short: "h", help: "Show this help." };

const CONFIG: readonly Option[] = [
  { name: "config", value: "FILE", help: "Read settings from FILE instead of the usual place." },
  { name: "no-config", help: "Read no settings file." },
];

const QUIET: Option = {
  name: "quiet",
  short: "q",
  help: "Print nothing but failures and what waits for you.",
};
const JSON_REPORT: Option = { name: "json", help: "Print one JSON value." };
const NAME: Option = {
  name: "name",
  value: "PATH",
  help: "Filter mode: the path the document is known by. That file is not touched.",
};
const WAIT: Option = {
  name: "wait",
  value: "SECONDS",
  type: "seconds",
  default: "0",
  help: "Wait this long for another run that has the document.",
};
const EXIT_CODE: Option = {
  name: "exit-code",
  help: "Filter mode: the exit codes of in-place mode, although the text changed or a person is needed.",
};
const MESSAGES: Option = {
  name: "messages",
  value: "WHERE",
  default: "stderr, or journal where they could land in the document",
  help: "Where messages go: stderr, journal (flemma status --last shows it), or a file.",
};

const TARGETS: readonly Option[] = [
  { name: "line", value: "N", type: "count", help: "The call at or nearest to this line." },
  { name: "tool", value: "NAME", help: "All pending calls of this tool." },
  { name: "all", help: "All pending calls." },
];

const EVENTS: readonly Option[] = [
  { name: "json", help: "In-place mode: print each event as a line of JSON." },
  {
    name: "events",
    value: "PATH",
    help: "Write each event as a line of JSON to PATH, to stderr, or to the open descriptor fd:N.",
  },
  {
    name: "edits",
    help: "Filter mode, with --events: tell each change of the text too, as whole lines.",
  },
  { name: "cursor", help: "Print FILE:LINE of where to go on." },
];

const STREAM: Option = {
  name: "stream",
  negatable: true,
  default: "while it arrives",
  help: "Write the reply to the file while it arrives, or once at its end.",
};

const RETRY: Option = {
  name: "retry",
  negatable: true,
  help:
    "Ask again while the provider is overloaded or drops the connection (the default), or give up at once.",
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

/** What every command takes that works on a document. */
const DOCUMENT: readonly Option[] = [NAME, WAIT, ...CONFIG, MESSAGES, QUIET, HELP];

/** What a run takes that begins with a save. */
const WATCHING: readonly Option[] = [
  ...AUTOPILOT,
  SANDBOX,
  ...MODEL,
  APPROVE,
  STREAM,
  RETRY,
  { name: "json", help: "Print each event as a line of JSON, with the document it is about." },
  ...CONFIG,
  MESSAGES,
  QUIET,
  HELP,
];

/** They change a document. */
const WORK: readonly Command[] = [
  {
    name: "advance",
    usage: "[FILE…]",
    summary: "run the cycle until you are needed or the reply is complete",
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
    summary: "mark calls approved; nothing runs",
    details:
      "A TARGET is a call's id, its number (flemma status prints it), or four or more characters that its id begins or " +
      "ends with. Without any, the only pending call is meant. A filter takes TARGETs only: flemma approve call_1.",
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
    summary: "mark calls rejected, with a word to the model if you like",
    details:
      "A TARGET is a call's id, its number (flemma status prints it), or four or more characters that its id begins or " +
      "ends with. Without any, the only pending call is meant. A filter takes TARGETs only: flemma reject call_1.",
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
      "A rejected or denied call gets its answer; any other runs now and its result replaces what stands there.",
    kind: "filter",
    arity: [0, 2],
    takesTarget: true,
    options: [
      ...TARGETS.slice(0, 1),
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
    summary: "decide about calls one by one, each shown whole",
    details:
      "A dialogue at the terminal: the whole call, a diff of what it would write, the folder it runs in, what stands " +
      "around it and who would decide. Keys: y approve, n reject (with a reason), e edit the input in your editor, s let a " +
      "rule for calls like it hold for this document until logout, a the same for every document, in your settings, k skip, " +
      "u take the last step back, w why, q quit. Nothing runs. Exit code 3 while calls still wait.",
    kind: "none",
    arity: [1, Infinity],
    options: [SANDBOX, ...CONFIG, QUIET, HELP],
    example: "flemma review notes.chat",
  },
];

const UNDO: Command = {
  name: "undo",
  usage: "FILE [TARGET…]",
  summary: "have back what write and edit did to files",
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
    QUIET,
    HELP,
  ],
  example: "flemma undo notes.chat --dry-run",
};

const CANCEL: Command = {
  name: "cancel",
  usage: "[FILE] [TARGET]",
  summary: "stop what another process runs for a document",
  details:
    "A TARGET is a call's id, its number (flemma status prints it), or four or more characters that its id begins or " +
    "ends with. Without any, one thing is cancelled, as by Ctrl-C: the request, else the call that was started first. What " +
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
    QUIET,
    HELP,
  ],
  example: "flemma cancel notes.chat call_1",
};

/** They tell about a document and change nothing. */
const LOOK: readonly Command[] = [
  {
    name: "status",
    usage: "[FILE…]",
    summary: "what is open, and what the next advance would do",
    details: "Of several FILEs one after the other; with --json one value a line.",
    kind: "report",
    arity: [0, Infinity],
    options: [
      { name: "pending", help: "Only what waits for you: FILE:LINE: each call." },
      {
        name: "last",
        standalone: true,
        help: "Show the messages of the last filter run: of FILE, of a piped document, else of all.",
      },
      JSON_REPORT,
      NAME,
      ...CONFIG,
      HELP,
    ],
    example: "flemma status notes.chat",
  },
  {
    name: "check",
    usage: "[FILE…]",
    summary: "diagnostics, one a line: FILE:LINE:COL: severity code message",
    details: "Exit code 4 when any of them blocks a request.",
    kind: "report",
    arity: [0, Infinity],
    options: [JSON_REPORT, NAME, ...CONFIG, HELP],
    example: "flemma check notes.chat",
  },
  SHOW_COMMAND,
  {
    name: "recover",
    usage: "[ID]",
    summary: "the text that a failed or killed filter run had in hand",
    details: "Without ID the newest of them. Texts that came out whole are not kept.",
    kind: "none",
    arity: [0, 1],
    options: [{ name: "list", help: "List what is kept instead." }, JSON_REPORT, HELP],
    example: "flemma recover --list",
  },
  {
    name: "parse",
    usage: "[FILE]",
    summary: "the document as JSON",
    kind: "report",
    arity: [0, 1],
    options: [JSON_REPORT, NAME, HELP],
    example: "flemma parse notes.chat --json",
  },
];

/** They need no document. */
const BEGIN: readonly Command[] = [
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
    summary: "the files that an editor needs: where they are, install or print them",
    details:
      "NAME is vim, neovim, emacs, kakoune, helix or vscode. Without NAME, what is installed for each editor. Without an option, what is installed for this " +
      "one. Files that you changed are never overwritten unless you say --force, which puts yours beside them.",
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
    summary: "one page: versions, settings, keys, state, tools, sandbox",
    details:
      "Exit code 1 when something of it needs repair, 2 when a settings file is wrong. No key is ever shown.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma doctor",
  },
  {
    name: "import",
    usage: "[SNIPPET]",
    summary: "turn a messages.create({…}) call in JavaScript into a document",
    details:
      "Reads SNIPPET, or standard input, and prints the document: model and parameters, the system text, each " +
      "message. The body of a request as JSON does too. The snippet is not run.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, QUIET, HELP],
    example: "flemma import snippet.js",
  },
];

/** They make tests of conversations. */
const REPLAY: readonly Command[] = [
  {
    name: "replay record",
    usage: "[FILE]",
    summary: "print the model's words of a conversation as a replay script",
    details: "Texts that look like secrets are left out.",
    kind: "report",
    arity: [0, 1],
    options: [NAME, QUIET, HELP],
    example: "flemma replay record notes.chat",
  },
  {
    name: "replay run",
    usage: "FILE…",
    summary: "have a conversation again: the model's words, the tools for real",
    details:
      "Runs the calls of FILE in a copy of its folder, in the sandbox, and compares their results: <any> stands for the rest of a line, ~/regex/ for all. Exit code 1 when something differs.",
    kind: "none",
    arity: [1, Infinity],
    options: [
      { name: "update", help: "Put what came out into FILE." },
      {
        name: "folder",
        value: "DIR",
        default: "the folder of FILE",
        help: "Copy DIR instead.",
      },
      { name: "tap", help: "Print the results as TAP." },
      { name: "junit", value: "PATH", help: "Write JUnit's XML to PATH too." },
      JSON_REPORT,
      SANDBOX,
      ...CONFIG,
      QUIET,
      HELP,
    ],
    example: "flemma replay run notes.chat",
  },
];

/** They teach git what a conversation is. */
const GIT: readonly Command[] = [
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
      QUIET,
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

/** They are about the walls around commands. */
const CONFINE: readonly Command[] = [
  {
    name: "sandbox status",
    usage: "[FILE]",
    summary: "whether and how tools are confined",
    details: "Exit code 0 when the sandbox works or is switched off, 1 when it is on and does not work.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, SANDBOX, ...CONFIG, HELP],
    example: "flemma sandbox status notes.chat",
  },
  {
    name: "sandbox run",
    usage: "[FILE] -- COMMAND…",
    summary: "run a command as a tool of this document or folder would run",
    details: "The exit code is the command's own.",
    kind: "none",
    arity: [0, 1],
    takesCommand: true,
    options: [...CONFIG, HELP],
    example: "flemma sandbox run -- make test",
  },
  ...SANDBOX_SWITCHES,
];

/** Every command, in the groups and the order in which people read about them. */
export const GROUPS: readonly CommandGroup[] = [
  { title: "Work on a document", commands: [...WORK, CANCEL, COMPACT, FORK, UNDO, WATCH(WATCHING)] },
  { title: "Look at a document", commands: LOOK },
  { title: "Begin", commands: BEGIN },
  { title: "Serve editors and shells", commands: [...SERVING_COMMANDS, ...SHELL_COMMANDS] },
  { title: "Test, and keep in git", commands: [...REPLAY, ...GIT] },
  { title: "Sandbox", commands: CONFINE },
  { title: "Skills", commands: SKILL_COMMANDS },
  { title: "Keys and cost", commands: PROVIDER_COMMANDS },
  { title: "Settings and trust", commands: SETTINGS_COMMANDS },
];

export const COMMANDS: readonly Command[] = GROUPS.flatMap(({ commands }) => commands);
