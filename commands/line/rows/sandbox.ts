// The commands about the sandbox.

import type { Command } from "../spec.ts";
import { CONFIG, HELP, JSON_REPORT, QUIET, SANDBOX } from "./options.ts";

/** Switches the sandbox for this session. */
const SANDBOX_SWITCHES: readonly Command[] = (["enable", "disable", "reset"] as const).map((
  word,
): Command => ({
  name: `sandbox ${word}`,
  usage: "[FILE]",
  summary: word === "reset"
    ? "let the settings decide about the sandbox again"
    : `switch the sandbox ${word === "enable" ? "on" : "off"} until logout`,
  details: word === "enable" ? "Refuses when no backend works." : undefined,
  kind: "none",
  arity: [0, 1],
  options: [QUIET, ...CONFIG, HELP],
  example: `flemma sandbox ${word} notes.chat`,
}));

export const SANDBOX_COMMANDS: readonly Command[] = [
  {
    name: "sandbox status",
    usage: "[FILE]",
    summary: "whether and how tools are confined",
    details: "Exit code 0 when the sandbox works or is switched off, 1 when it is on and does not work.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, SANDBOX, ...CONFIG, HELP],
    example: "flemma sandbox status notes.chat",
  },
  {
    name: "sandbox run",
    usage: "[FILE] -- COMMAND…",
    summary: "run a command as a tool of this document or folder would run",
    details: "The exit code is the command's own.",
    kind: "none",
    arity: [0, 1],
    takesCommand: true,
    options: [...CONFIG, HELP],
    example: "flemma sandbox run -- make test",
  },
  ...SANDBOX_SWITCHES,
];
