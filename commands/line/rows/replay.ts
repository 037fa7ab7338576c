// The commands that turn conversations into tests.

import type { Command } from "../spec.ts";
import { CONFIG, HELP, JSON_REPORT, NAME, QUIET_RUN, SANDBOX } from "./options.ts";

export const REPLAY_COMMANDS: readonly Command[] = [
  {
    name: "replay record",
    usage: "[FILE]",
    summary: "print the model's replies as a replay script",
    details: "Leaves out text that looks like a secret.",
    kind: "report",
    arity: [0, 1],
    options: [NAME, QUIET_RUN, HELP],
    example: "flemma replay record notes.chat",
  },
  {
    name: "replay run",
    usage: "FILE…",
    summary: "replay a conversation: recorded replies, real tools",
    details:
      "Runs the calls of FILE in the sandbox, in a copy of its folder, and compares their results. In FILE, <any> matches the rest of a line, and ~/regex/ a whole result. The exit code is 1 if something differs.",
    kind: "none",
    arity: [1, Infinity],
    options: [
      { name: "update", help: "Write the new results to FILE." },
      {
        name: "folder",
        value: "DIR",
        default: "the folder of FILE",
        help: "Copy this folder.",
      },
      {
        name: "lenient",
        help: "Accept requests that the provider would refuse, such as for a retired model.",
      },
      { name: "tap", help: "Print results as TAP." },
      { name: "junit", value: "PATH", help: "Also write JUnit XML to PATH." },
      JSON_REPORT,
      SANDBOX,
      ...CONFIG,
      QUIET_RUN,
      HELP,
    ],
    example: "flemma replay run notes.chat",
  },
];
