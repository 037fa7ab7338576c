// The commands about the sandbox.

import type { Command } from "../spec.ts";
import { BACKEND, CONFIG, HELP, JSON_REPORT, QUIET, SANDBOX } from "./options.ts";

/** Commands that switch the sandbox for this session. */
const SANDBOX_SWITCHES: readonly Command[] = [
  {
    name: "sandbox enable",
    usage: "[FILE]",
    summary: "turn the sandbox on for this session",
    sameAs: "session set sandbox.enabled=true [FILE]",
    details: "Fails if no backend works.",
    kind: "none",
    arity: [0, 1],
    options: [QUIET, ...CONFIG, HELP],
    example: "flemma sandbox enable notes.chat",
  },
  {
    name: "sandbox disable",
    usage: "[FILE]",
    summary: "turn the sandbox off for this session",
    sameAs: "session set sandbox.enabled=false [FILE]",
    kind: "none",
    arity: [0, 1],
    options: [QUIET, ...CONFIG, HELP],
    example: "flemma sandbox disable notes.chat",
  },
  {
    name: "sandbox reset",
    usage: "[FILE]",
    summary: "clear this session's sandbox setting, or the caches of commands",
    details: "Without --caches, the same as `flemma session reset --key sandbox.enabled [FILE]`.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "caches", help: "Remove what commands fetched and built for all projects, and nothing else." },
      QUIET,
      ...CONFIG,
      HELP,
    ],
    example: "flemma sandbox reset --caches",
  },
];

export const SANDBOX_COMMANDS: readonly Command[] = [
  {
    name: "sandbox status",
    usage: "[FILE]",
    summary: "show whether and how tools are confined",
    details: "The exit code is 1 if the sandbox is on and does not work, else 0.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, SANDBOX, BACKEND, ...CONFIG, HELP],
    example: "flemma sandbox status notes.chat",
  },
  {
    name: "sandbox run",
    usage: "[FILE] -- COMMAND…",
    summary: "run a command in the sandbox of a document's or folder's tools",
    details: "Exits with the command's exit code.",
    kind: "none",
    arity: [0, 1],
    takesCommand: true,
    options: [BACKEND, ...CONFIG, HELP],
    example: "flemma sandbox run -- make test",
  },
  {
    name: "sandbox compare",
    usage: "[FILE] -- COMMAND…",
    summary: "show what bubblewrap and Landlock would do for a command",
    details: "Also shows where they differ. Runs nothing, and tests neither.",
    kind: "none",
    arity: [0, 1],
    takesCommand: true,
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma sandbox compare -- make test",
  },
  {
    name: "sandbox use",
    usage: "BACKEND",
    summary: "test a sandbox backend and write it into your settings",
    details:
      "BACKEND is auto, required, bwrap, landlock, or another name. Writes nothing if the backend does not work.",
    kind: "none",
    arity: [1, 1],
    options: [QUIET, ...CONFIG, HELP],
    example: "flemma sandbox use landlock",
  },
  ...SANDBOX_SWITCHES,
];
