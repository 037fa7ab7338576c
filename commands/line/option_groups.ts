// Options that make the command line's own layer of settings, for the commands that run by it and those that show it.

import type { Option } from "./spec.ts";

export const AUTOPILOT: readonly Option[] = [
  {
    name: "autopilot",
    negatable: true,
    default: "what the settings say",
    help: "Go on by itself after results, or take one step.",
  },
  {
    name: "max-turns",
    value: "N",
    type: "count",
    default: "what the settings say",
    help: "Replies with tool calls before it stops.",
  },
];

export const LIMITS: readonly Option[] = [
  {
    name: "max-cost",
    value: "DOLLARS",
    type: "amount",
    default: "what the settings say",
    help: "Stop before the request that could pass this.",
  },
  {
    name: "max-tokens",
    value: "N",
    type: "count",
    default: "what the settings say",
    help: "The same for tokens, in and out.",
  },
];

export const SANDBOX: Option = {
  name: "sandbox",
  negatable: true,
  default: "what the settings say",
  help: "Run tools inside the sandbox, or bare.",
};

export const MODEL: readonly Option[] = [
  { name: "provider", value: "NAME", default: "what the settings say", help: "Provider for this run." },
  { name: "model", value: "NAME", default: "what the settings say", help: "Model for this run." },
  { name: "preset", value: "NAME", help: "Model, parameters and approvals of a preset for this run." },
  { name: "param", value: "KEY=VALUE", many: true, help: "A model parameter for this run." },
];

export const APPROVE: Option = {
  name: "approve",
  value: "RULE",
  many: true,
  help: "Approve a tool by name, or a $preset, for this run only.",
};
