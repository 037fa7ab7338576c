// Options that several commands share.

import type { Option } from "../spec.ts";

/* Options of nearly every command. */

export const HELP: Option = { name: "help", short: "h", help: "Show this help." };

export const CONFIG: readonly Option[] = [
  { name: "config", value: "FILE", help: "Read settings from FILE instead of the usual place." },
  { name: "no-config", help: "Read no settings file." },
];

export const QUIET: Option = { name: "quiet", short: "q", help: "Print nothing but failures." };

/** `QUIET` for commands that run a document. */
export const QUIET_RUN: Option = {
  name: "quiet",
  short: "q",
  help: "Print nothing but failures and what waits for you.",
};

export const JSON_REPORT: Option = { name: "json", help: "Print one JSON value." };

/** The default of an option that overrides a setting. */
const BY_SETTINGS = "what the settings say";

/* The settings layer of the command line: for commands that use it, and commands that show it. */

export const AUTOPILOT: readonly Option[] = [
  {
    name: "autopilot",
    negatable: true,
    default: BY_SETTINGS,
    help: "Go on by itself after results, or take one step.",
  },
  {
    name: "max-turns",
    value: "N",
    type: "count",
    default: BY_SETTINGS,
    help: "Replies with tool calls before it stops.",
  },
];

export const LIMITS: readonly Option[] = [
  {
    name: "max-cost",
    value: "DOLLARS",
    type: "amount",
    default: BY_SETTINGS,
    help: "Stop before the request that could pass this.",
  },
  {
    name: "max-tokens",
    value: "N",
    type: "count",
    default: BY_SETTINGS,
    help: "The same for tokens, in and out.",
  },
];

export const SANDBOX: Option = {
  name: "sandbox",
  negatable: true,
  default: BY_SETTINGS,
  help: "Run tools inside the sandbox, or bare.",
};

export const MODEL: readonly Option[] = [
  { name: "provider", value: "NAME", default: BY_SETTINGS, help: "Provider for this run." },
  { name: "model", value: "NAME", default: BY_SETTINGS, help: "Model for this run." },
  { name: "preset", value: "NAME", help: "Model, parameters and approvals of a preset for this run." },
  { name: "param", value: "KEY=VALUE", many: true, help: "A model parameter for this run." },
];

export const APPROVE: Option = {
  name: "approve",
  value: "RULE",
  many: true,
  help: "Approve a tool, a $preset or a rule such as 'bash(git log **)', for this run only.",
};

/* How a run proceeds and what it reports. */

export const WAIT: Option = {
  name: "wait",
  value: "SECONDS",
  type: "seconds",
  default: "0",
  help: "Wait this long for another run that has the document.",
};

export const STREAM: Option = {
  name: "stream",
  negatable: true,
  default: "while it arrives",
  help: "Write the reply to the file while it arrives, or once at its end.",
};

export const RETRY: Option = {
  name: "retry",
  negatable: true,
  help:
    "Ask again while the provider is overloaded or drops the connection (the default), or give up at once.",
};

export const MESSAGES: Option = {
  name: "messages",
  value: "WHERE",
  default: "stderr, or journal where they could land in the document",
  help: "Where messages go: stderr, journal (flemma status --last shows it), or a file.",
};

/* Which call or document to use. */

export const LINE: Option = {
  name: "line",
  value: "N",
  type: "count",
  help: "The call at or nearest to this line.",
};

/** For commands that may be filters. */
export const NAME: Option = {
  name: "name",
  value: "PATH",
  help: "As a filter: the path the document is known by. That file is not touched.",
};

/** For commands that accept - for standard input. */
export const NAME_OF_INPUT: Option = {
  name: "name",
  value: "PATH",
  help: "With -: the path the document is known by.",
};
