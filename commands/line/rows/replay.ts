// The commands that turn conversations into tests.

import type { Command } from "../spec.ts";
import { CONFIG, HELP, JSON_REPORT, NAME, QUIET_RUN, SANDBOX } from "./options.ts";

export const REPLAY_COMMANDS: readonly Command[] = [
  {
    name: "replay record",
    usage: "[FILE]",
    summary: "print the model's words of a conversation as a replay script",
    details: "Texts that look like secrets are left out.",
    kind: "report",
    arity: [0, 1],
    options: [NAME, QUIET_RUN, HELP],
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
      {
        name: "lenient",
        help: "Send requests that the provider itself would refuse, such as for a retired model.",
      },
      { name: "tap", help: "Print the results as TAP." },
      { name: "junit", value: "PATH", help: "Write JUnit's XML to PATH too." },
      JSON_REPORT,
      SANDBOX,
      ...CONFIG,
      QUIET_RUN,
      HELP,
    ],
    example: "flemma replay run notes.chat",
  },
];
