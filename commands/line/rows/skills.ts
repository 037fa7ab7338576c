// The commands about skills.

import type { Command } from "../spec.ts";
import { CONFIG, HELP, JSON_REPORT } from "./options.ts";

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
