// Options that several commands share.

import type { Option } from "../spec.ts";

/* Options of nearly every command. */

export const HELP: Option = { name: "help", short: "h", help: "Show this help." };

export const CONFIG: readonly Option[] = [
  { name: "config", value: "FILE", help: "Read settings from FILE instead of the usual files." },
  { name: "no-config", help: "Read no settings files." },
];

export const QUIET: Option = { name: "quiet", short: "q", help: "Print only errors." };

/** The option `QUIET`, worded for commands that run a document. */
export const QUIET_RUN: Option = {
  name: "quiet",
  short: "q",
  help: "Print only errors and what waits for you.",
};

export const JOBS: Option = {
  name: "jobs",
  value: "N",
  type: "count",
  default: "1",
  help: "Work on N of the FILEs in parallel.",
};

export const JSON_REPORT: Option = { name: "json", help: "Print one JSON value." };

/** Text for the default of an option that overrides a setting. */
const BY_SETTINGS = "from the settings";

/* The settings layer of the command line: for commands that use it, and commands that show it. */

export const AUTOPILOT: readonly Option[] = [
  {
    name: "autopilot",
    negatable: true,
    default: BY_SETTINGS,
    help: "Continue after tool results, or stop after one step.",
  },
  {
    name: "max-turns",
    value: "N",
    type: "count",
    default: BY_SETTINGS,
    help: "Stop after N replies with tool calls.",
  },
];

export const LIMITS: readonly Option[] = [
  {
    name: "max-cost",
    value: "DOLLARS",
    type: "amount",
    default: BY_SETTINGS,
    help: "Stop before a request that could exceed this cost.",
  },
  {
    name: "max-tokens",
    value: "N",
    type: "count",
    default: BY_SETTINGS,
    help: "Stop before a request that could exceed N tokens.",
  },
  {
    name: "wait-limit",
    value: "TIME",
    type: "duration",
    default: BY_SETTINGS,
    help: "Wait up to TIME in total (90, 30m, 6h) for rate limits.",
  },
  {
    name: "fallback",
    value: "MODEL,…",
    default: BY_SETTINGS,
    help: "Ask these models if the provider cannot answer.",
  },
];

export const SANDBOX: Option = {
  name: "sandbox",
  negatable: true,
  default: BY_SETTINGS,
  help: "Run tools in the sandbox, or without it.",
};

export const NO_HOOKS: Option = {
  name: "no-hooks",
  help: "Run no hooks around calls, messages and replies.",
};

export const BACKEND: Option = {
  name: "backend",
  value: "NAME",
  default: BY_SETTINGS,
  help: "Use this sandbox backend.",
};

export const MODEL: readonly Option[] = [
  { name: "provider", value: "NAME", default: BY_SETTINGS, help: "Use this provider." },
  {
    name: "model",
    value: "NAME",
    default: BY_SETTINGS,
    help: "Use this model, and its provider if yours does not have it.",
  },
  { name: "preset", value: "NAME", help: "Use the model, parameters and approvals of a preset." },
  { name: "param", value: "KEY=VALUE", many: true, help: "Set a model parameter." },
];

export const APPROVE: Option = {
  name: "approve",
  value: "RULE",
  many: true,
  help: "In this run, approve a tool, $preset or rule such as 'bash(git log **)'.",
};

/* How a run proceeds and what it reports. */

export const WAIT: Option = {
  name: "wait",
  value: "SECONDS",
  type: "seconds",
  default: "0",
  help: "Wait this long while another run uses the document.",
};

export const STREAM: Option = {
  name: "stream",
  negatable: true,
  default: "as it arrives",
  help: "Write the reply to the file as it arrives, or once at the end.",
};

export const RETRY: Option = {
  name: "retry",
  negatable: true,
  help: "Retry after overload or a lost connection (the default), or fail immediately.",
};

export const MESSAGES: Option = {
  name: "messages",
  value: "WHERE",
  default: "stderr, or journal inside some editors",
  help: "Write messages to stderr, journal or a file.",
};

/* Which call or document to use. */

export const LINE: Option = {
  name: "line",
  value: "N",
  type: "count",
  help: "Select the call at or nearest to line N.",
};

/** The option `--name` for commands that may be filters. */
export const NAME: Option = {
  name: "name",
  value: "PATH",
  help: "As a filter: PATH identifies the document. That file is not changed.",
};

/** The option `--name` for commands that accept - for standard input. */
export const NAME_OF_INPUT: Option = {
  name: "name",
  value: "PATH",
  help: "With -: PATH identifies the document.",
};
