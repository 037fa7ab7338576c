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
  help: "PATH identifies the piped document. That file is not changed.",
};

/** Options that set what a run would use. */
const LAYER: readonly Option[] = [...AUTOPILOT, SANDBOX, ...MODEL, APPROVE];

export const SETTINGS_COMMANDS: readonly Command[] = [
  {
    name: "config show",
    standard: true,
    usage: "[FILE]",
    summary: "show every setting, its value and its source",
    details:
      "With FILE, includes the document's frontmatter. Options of a run, such as --model, are included too.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "changed", help: "Show only settings that differ from the default." },
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
    summary: "list mistakes in the settings files",
    details:
      "Prints FILE:LINE:COL: message for each; the exit code is then 2. With FILE, also checks the document's frontmatter; the exit code for mistakes there is 4.",
    kind: "none",
    arity: [0, 1],
    options: [...CONFIG, HELP],
    example: "flemma config check",
  },
  {
    name: "approval explain",
    usage: "[FILE] [TARGET…]",
    summary: "explain why calls are approved, pending or denied",
    details:
      "Names the source and rule of each decision. A TARGET names a call as for flemma approve; without one, explains " +
      "all open calls. Nothing runs and nothing is written.",
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
    summary: "show calls in full, with a diff of the file that they change",
    details: "A TARGET is a call's id or its beginning. Without a TARGET, shows all open calls.",
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
    summary: "show what current or trial rules decide about commands",
    details:
      "Without COMMAND, reads one command a line from standard input. A RULE is bash(git log **), deny bash(git push **) " +
      "or a table in JSON. The exit code is 0 if all are approved, 3 if one needs approval, and 1 if one is denied.",
    kind: "none",
    arity: [0, Infinity],
    options: [
      { name: "rule", value: "RULE", many: true, help: "Test with this rule in addition to the settings." },
      {
        name: "tool",
        value: "NAME",
        help: "Test this tool (default bash). Tools other than bash take a path.",
      },
      { name: "cwd", value: "DIR", help: "Start the command in this folder." },
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
    summary: "print the paths of the settings files",
    kind: "none",
    arity: [0, 1],
    options: [...CONFIG, HELP],
    example: "flemma config path",
  },
  {
    name: "config get",
    usage: "KEY [FILE]",
    summary: "print the value of one setting",
    kind: "none",
    arity: [1, 2],
    options: [JSON_REPORT, ...LAYER, ...CONFIG, HELP],
    example: "flemma config get tools.auto_approve",
  },
  {
    name: "models list",
    standard: true,
    usage: "[PROVIDER]",
    summary: "list a provider's models with limits and prices",
    details:
      "Without PROVIDER, uses the provider from the settings. Limits are tokens of the context window and of a reply; prices " +
      "are dollars per million tokens. The provider's list overrides flemma's table, and your settings override both.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "refresh", help: "Fetch the provider's list first, and save it." },
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
    standard: true,
    usage: "[FILE]",
    summary: "list a document's tools, their source and their approval",
    details:
      "Without FILE, uses the current settings. The approval shown is that of a call without input. Connects to MCP " +
      "servers whose tools are not cached; with --refresh, to all of them.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "refresh", help: "Fetch the tools of all MCP servers again, and cache them." },
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
    summary: "show a tool's description, input schema and settings",
    details: "Also lists the environment variables that its commands do not get.",
    kind: "none",
    arity: [1, 2],
    options: [JSON_REPORT, SANDBOX, APPROVE, ...CONFIG, HELP],
    example: "flemma tools show bash",
  },
  {
    name: "trust",
    usage: "[PATH]",
    summary: "trust a document or a project's settings, tools and skills",
    details:
      "Shows what would apply, and records that you trust it. PATH is a document (- for standard input), a project's " +
      "folder with everything in it, .flemma/config.yaml, .flemma/tools, a skill or a folder of skills. Trust ends when " +
      "one of these changes: of a document, its path or its frontmatter's sandbox and approval settings; of a project, its " +
      "settings file, the code that this file names, or the imports of that code; of tools and skills, any file.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "show", help: "Show what would apply, without trusting it." },
      NAME_OF_INPUT,
      { name: "list", help: "List what you trust." },
      { name: "revoke", value: "PATH", help: "Stop trusting PATH." },
      ...CONFIG,
      QUIET,
      HELP,
    ],
    example: "flemma trust .",
  },
  {
    name: "session set",
    usage: "KEY=VALUE… [FILE]",
    summary: "change settings for this session, for all documents or FILE",
    details:
      "A session ends when you log out. For lists: KEY+=ITEM appends, KEY-=ITEM removes, KEY^=ITEM prepends. A value in brackets is read as in a " +
      "settings file: 'tools.rules+={ deny: bash, command: [git push **] }'.",
    kind: "none",
    arity: [1, Infinity],
    options: [QUIET, ...CONFIG, HELP],
    example: "flemma session set tools.auto_approve+=bash",
  },
  {
    name: "session switch",
    usage: "$PRESET [FILE]",
    summary: "use a preset's model and approvals for this session",
    kind: "none",
    arity: [1, 2],
    options: [QUIET, ...CONFIG, HELP],
    example: "flemma session switch '$readonly'",
  },
  {
    name: "session show",
    standard: true,
    usage: "[FILE]",
    summary: "show the settings of this session",
    kind: "none",
    arity: [0, 1],
    options: [HELP],
    example: "flemma session show",
  },
  {
    name: "session reset",
    usage: "[FILE]",
    summary: "clear the settings of this session",
    kind: "none",
    arity: [0, 1],
    options: [{ name: "key", value: "KEY", many: true, help: "Clear only this setting." }, QUIET, HELP],
    example: "flemma session reset",
  },
];
