// The commands about providers: keys, tokens and money.

import type { Command } from "../spec.ts";
import { CONFIG, HELP, JSON_REPORT, MODEL, NAME_OF_INPUT, QUIET } from "./options.ts";

export const PROVIDER_COMMANDS: readonly Command[] = [
  {
    name: "usage",
    usage: "[FILE]",
    summary: "tokens and cost of requests, per document or in total",
    details: "With FILE by model. Prices are those of the day of each request.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "since", value: "DAY", help: "Only requests from this day on (UTC), as 2026-11-28." },
      JSON_REPORT,
      QUIET,
      HELP,
    ],
    example: "flemma usage notes.chat",
  },
  {
    name: "estimate",
    usage: "[FILE]",
    summary: "how many tokens a document would send, and what that costs",
    details:
      "The provider is asked to count, which takes the key and costs nothing. A server that does not count gets a rough number.",
    kind: "report",
    arity: [0, 1],
    options: [...MODEL, JSON_REPORT, NAME_OF_INPUT, ...CONFIG, HELP],
    example: "flemma estimate notes.chat",
  },
  {
    name: "auth set",
    usage: "PROVIDER",
    summary: "keep the key of a provider in the keyring of the system",
    details:
      "The key is typed without being shown, or piped in. It is never an argument, which a shell would remember.",
    kind: "none",
    arity: [1, 2],
    options: [QUIET, ...CONFIG, HELP],
    example: "flemma auth set anthropic",
  },
  {
    name: "auth show",
    usage: "[PROVIDER]",
    summary: "where the keys of providers come from, by name",
    details: "No key is ever shown. Exit code 1 when PROVIDER has none.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma auth show",
  },
  {
    name: "auth remove",
    usage: "PROVIDER",
    summary: "take the key of a provider out of the keyring",
    kind: "none",
    arity: [1, 1],
    options: [QUIET, ...CONFIG, HELP],
    example: "flemma auth remove anthropic",
  },
];
