// The commands about providers: keys, tokens and money.

import type { Command } from "../spec.ts";
import { CONFIG, HELP, JSON_REPORT, MODEL, NAME_OF_INPUT, QUIET } from "./options.ts";

export const PROVIDER_COMMANDS: readonly Command[] = [
  {
    name: "usage",
    usage: "[FILE]",
    summary: "show tokens and cost of requests, by document or in total",
    details: "With FILE, shows the numbers by model. Each request is counted at the prices of its day.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "since", value: "DAY", help: "Count only requests since DAY (UTC), such as 2026-11-28." },
      JSON_REPORT,
      QUIET,
      HELP,
    ],
    example: "flemma usage notes.chat",
  },
  {
    name: "estimate",
    usage: "[FILE]",
    summary: "show how many tokens a document would send, and the cost",
    details:
      "Asks the provider to count the tokens, which needs the key and costs nothing. If the server cannot count them, shows a rough estimate.",
    kind: "report",
    arity: [0, 1],
    options: [...MODEL, JSON_REPORT, NAME_OF_INPUT, ...CONFIG, HELP],
    example: "flemma estimate notes.chat",
  },
  {
    name: "auth set",
    usage: "PROVIDER",
    summary: "save a provider's key in the system's keyring",
    details:
      "Type the key (it is not shown) or pipe it in. The key cannot be an argument, because shells record arguments.",
    kind: "none",
    arity: [1, 2],
    options: [QUIET, ...CONFIG, HELP],
    example: "flemma auth set anthropic",
  },
  {
    name: "auth show",
    usage: "[PROVIDER]",
    summary: "show the source of each provider's key, and MCP sign-ins",
    details: "Keys and tokens are never shown. The exit code is 1 if PROVIDER has no key.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma auth show",
  },
  {
    name: "auth mcp",
    usage: "NAME",
    summary: "sign in to an MCP server, in the browser",
    details:
      "NAME is a server in mcp.servers, or in a trusted .mcp.json. Waits five minutes. Sign in again if a call needs more rights.",
    kind: "none",
    arity: [1, 1],
    options: [
      {
        name: "paste",
        help:
          "Open no browser here, and read the address at which the browser ends: for a machine without a browser.",
      },
      { name: "remove", help: "Remove the sign-in." },
      QUIET,
      ...CONFIG,
      HELP,
    ],
    example: "flemma auth mcp issues",
  },
  {
    name: "auth remove",
    usage: "PROVIDER",
    summary: "remove a provider's key from the system's keyring",
    kind: "none",
    arity: [1, 1],
    options: [QUIET, ...CONFIG, HELP],
    example: "flemma auth remove anthropic",
  },
];
