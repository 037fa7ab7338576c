// The commands about settings, trust and the session.

import type { Command, Option } from "../spec.ts";
import {
  APPROVE,
  AUTOPILOT,
  CONFIG,
  HELP,
  JSON_REPORT,
  LINE,
  MODEL,
  NAME_OF_INPUT,
  QUIET,
  SANDBOX,
} from "./options.ts";

const NAME_OF_PIPED: Option = {
  name: "name",
  value: "PATH",
  help: "The path a piped document is known by. That file is not touched.",
};

/** Options that set what a run would use. */
const LAYER: readonly Option[] = [...AUTOPILOT, SANDBOX, ...MODEL, APPROVE];

export const SETTINGS_COMMANDS: readonly Command[] = [
  {
    name: "config show",
    usage: "[FILE]",
    summary: "every setting, its value and the layer it comes from",
    details:
      "With FILE also what that document's first block sets, and with the options of a run what they set.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "changed", help: "Only what is not as it comes." },
      JSON_REPORT,
      ...LAYER,
      QUIET,
      ...CONFIG,
      HELP,
    ],
    example: "flemma config show --changed",
  },
  {
    name: "config check",
    usage: "[FILE]",
    summary: "every mistake in the settings files, one a line",
    details:
      "Lines are FILE:LINE:COL: sentence. Exit code 2 when there is one. With FILE also the document's first block, exit code 4 then.",
    kind: "none",
    arity: [0, 1],
    options: [...CONFIG, HELP],
    example: "flemma config check",
  },
  {
    name: "approval explain",
    usage: "[FILE] [TARGET…]",
    summary: "why each call is approved, asked about or denied: who said what, by which rule",
    details:
      "A TARGET names a call as for flemma approve. Without any, all calls that are open are explained. Nothing runs and " +
      "nothing is written.",
    kind: "report",
    arity: [0, Infinity],
    takesTarget: true,
    options: [
      JSON_REPORT,
      NAME_OF_PIPED,
      SANDBOX,
      APPROVE,
      ...CONFIG,
      HELP,
    ],
    example: "flemma approval explain notes.chat call_1",
  },
  {
    name: "approval show",
    usage: "[FILE] [TARGET…]",
    summary: "calls in full, with the change that one would make to a file as a diff",
    details:
      "A TARGET is the id of a call or the beginning of one. Without any, all calls that are open are shown.",
    kind: "report",
    arity: [0, Infinity],
    takesTarget: true,
    options: [
      LINE,
      JSON_REPORT,
      NAME_OF_PIPED,
      ...CONFIG,
      HELP,
    ],
    example: "flemma approval show notes.chat call_1",
  },
  {
    name: "approval test",
    usage: "[COMMAND…]",
    summary: "what policy says of commands, under the settings in force and rules to try",
    details:
      "Without COMMAND, each line of standard input is one. A RULE is bash(git log **), deny bash(git push **) or a table " +
      "in JSON. Exit code 0 when all are approved, 3 when one would be asked about, 1 when one is denied.",
    kind: "none",
    arity: [0, Infinity],
    options: [
      { name: "rule", value: "RULE", many: true, help: "A rule on top of the settings." },
      {
        name: "tool",
        value: "NAME",
        help: "The tool that is called (default bash); others are given a path.",
      },
      { name: "cwd", value: "DIR", help: "The folder that the command starts in." },
      JSON_REPORT,
      SANDBOX,
      APPROVE,
      ...CONFIG,
      HELP,
    ],
    example: 'flemma approval test "git push"',
  },
  {
    name: "config path",
    usage: "[FILE]",
    summary: "where the settings files are",
    kind: "none",
    arity: [0, 1],
    options: [...CONFIG, HELP],
    example: "flemma config path",
  },
  {
    name: "config get",
    usage: "KEY [FILE]",
    summary: "the value of one setting",
    kind: "none",
    arity: [1, 2],
    options: [JSON_REPORT, ...LAYER, ...CONFIG, HELP],
    example: "flemma config get tools.auto_approve",
  },
  {
    name: "models list",
    usage: "[PROVIDER]",
    summary: "the models of a provider: limits, prices, and which one is asked",
    details:
      "Without PROVIDER that of the settings. Limits are tokens of the whole and of a reply, prices dollars per million " +
      "tokens. What the provider's own list says goes over what the program knows, and your settings go over both.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "refresh", help: "Ask the provider for its own list first, and keep it." },
      JSON_REPORT,
      ...MODEL,
      QUIET,
      ...CONFIG,
      HELP,
    ],
    example: "flemma models list anthropic",
  },
  {
    name: "tools list",
    usage: "[FILE]",
    summary:
      "the tools of a document: where they come from, whether they are offered, who decides about their calls",
    details:
      "Without FILE those of the settings in force here. What policy says is said of a call without any input. Servers of " +
      "tools that were never asked are asked now; with --refresh all of them.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "refresh", help: "Ask servers of tools whose tools are known anew, and keep what they list." },
      JSON_REPORT,
      SANDBOX,
      APPROVE,
      ...CONFIG,
      HELP,
    ],
    example: "flemma tools list notes.chat",
  },
  {
    name: "tools show",
    usage: "NAME [FILE]",
    summary: "one tool: description, input, settings, and the variables that its commands do not get",
    kind: "none",
    arity: [1, 2],
    options: [JSON_REPORT, SANDBOX, APPROVE, ...CONFIG, HELP],
    example: "flemma tools show bash",
  },
  {
    name: "trust",
    usage: "[PATH]",
    summary: "agree to what a document, or what comes with a project, would do",
    details:
      "Tells in words what will hold, and remembers that you agree. PATH is a document, or - for one from standard input; " +
      "or the folder of a project for everything that comes with it, its .flemma/config.yaml, its .flemma/tools, a " +
      "skill or a folder of skills. For a document the agreement is bound to its path and to what its " +
      "first block says about the sandbox and about what runs without asking; for a project to the content of the file, of " +
      "every file of code it names and of what that imports; for tool files and skills to all its files. Any change of that ends it.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "show", help: "Only tell what would hold." },
      NAME_OF_INPUT,
      { name: "list", help: "Show what is trusted." },
      { name: "revoke", value: "PATH", help: "Do not trust PATH any more." },
      ...CONFIG,
      QUIET,
      HELP,
    ],
    example: "flemma trust .",
  },
  {
    name: "session set",
    usage: "KEY=VALUE… [FILE]",
    summary: "set something until logout, for all documents or for FILE",
    details:
      "For lists: KEY+=ITEM appends, KEY-=ITEM removes, KEY^=ITEM prepends. A value in brackets is read as in a " +
      "settings file: 'tools.rules+={ deny: bash, command: [git push **] }'.",
    kind: "none",
    arity: [1, Infinity],
    options: [QUIET, ...CONFIG, HELP],
    example: "flemma session set tools.auto_approve+=bash",
  },
  {
    name: "session switch",
    usage: "$PRESET [FILE]",
    summary: "use a preset's model and approvals until logout",
    kind: "none",
    arity: [1, 2],
    options: [QUIET, ...CONFIG, HELP],
    example: "flemma session switch '$readonly'",
  },
  {
    name: "session show",
    usage: "[FILE]",
    summary: "what is set until logout",
    kind: "none",
    arity: [0, 1],
    options: [HELP],
    example: "flemma session show",
  },
  {
    name: "session reset",
    usage: "[FILE]",
    summary: "forget what was set until logout",
    kind: "none",
    arity: [0, 1],
    options: [QUIET, HELP],
    example: "flemma session reset",
  },
];
