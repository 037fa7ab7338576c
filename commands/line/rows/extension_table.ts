// The commands about what adds to the tools, as rows of the table of commands.

import type { Command, Option } from "../spec.ts";

const HELP: Option = { name: "help", short: "h", help: "Show this help." };
const JSON_REPORT: Option = { name: "json", help: "Print one JSON value." };
const CONFIG: readonly Option[] = [
  { name: "config", value: "FILE", help: "Read settings from FILE instead of the usual place." },
  { name: "no-config", help: "Read no settings file." },
];

export const SKILL_COMMANDS: readonly Command[] = [
  {
    name: "skills list",
    usage: "[FILE]",
    summary: "the skills there are for a document or this folder, and which the model is told of",
    details:
      "A skill is a folder with a SKILL.md. Those that come with a project are told of once you agree to them: flemma trust.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma skills list",
  },
  {
    name: "skills show",
    usage: "NAME [FILE]",
    summary: "the text of a skill, and where it lies",
    kind: "none",
    arity: [1, 2],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma skills show pdf",
  },
  {
    name: "skills check",
    usage: "[PATH]",
    summary: "mistakes in skills, one a line: FILE:LINE:COL: severity code message",
    details:
      "PATH is a skill, its SKILL.md or a folder of skills; without it all skills there are for this folder. " +
      "Exit code 1 when one of the mistakes keeps a skill from being used.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma skills check .agents/skills",
  },
];
