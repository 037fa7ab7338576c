// The commands about hooks, skills, and what MCP servers have besides tools.

import type { Command } from "../spec.ts";
import { APPROVE, CONFIG, HELP, JSON_REPORT, SANDBOX, WAIT } from "./options.ts";

export const SKILL_COMMANDS: readonly Command[] = [
  {
    name: "hooks list",
    standard: true,
    usage: "[FILE]",
    summary: "list hooks, and show which of them run, and where",
    details:
      "A hook is a command that runs around calls, messages and the end of a run (hooks). Those of a project run once " +
      "you trust them: flemma trust .flemma/hooks.yaml.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma hooks list",
  },
  {
    name: "hooks test",
    usage: "FILE TARGET",
    summary: "run the hooks before a call, but not the call",
    details:
      "Prints the answer of each hook, and the decision about the call as a run would make it. A TARGET is a call's id, its " +
      "number in flemma status, or at least four characters from the start or end of its id. The exit code is 0 if the " +
      "call would run, 3 if it would wait, 1 if it would be denied.",
    kind: "none",
    arity: [2, 2],
    options: [JSON_REPORT, SANDBOX, APPROVE, WAIT, ...CONFIG, HELP],
    example: "flemma hooks test notes.chat call_1",
  },
  {
    name: "mcp prompt",
    usage: "SERVER [NAME [ARGUMENT=VALUE…]]",
    summary: "print a prompt of an MCP server, as text to insert",
    details:
      "SERVER is a server in the settings (mcp.servers). Without NAME, lists its prompts. Nothing in the text takes effect.",
    kind: "none",
    arity: [1, 50],
    options: [...CONFIG, HELP],
    example: "flemma mcp prompt issues summarize id=7",
  },
  {
    name: "mcp read",
    usage: "SERVER [URI]",
    summary: "print a resource of an MCP server",
    details:
      "Without URI, lists the resources. Text is printed as a block in which nothing takes effect; of other content, one line.",
    kind: "none",
    arity: [1, 2],
    options: [...CONFIG, HELP],
    example: "flemma mcp read issues issue://7",
  },
  {
    name: "skills list",
    standard: true,
    usage: "[FILE]",
    summary: "list skills, and show which of them the model gets",
    details:
      "A skill is a folder with a SKILL.md. Skills of a project are offered once you trust them: flemma trust.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma skills list",
  },
  {
    name: "skills show",
    usage: "NAME [FILE]",
    summary: "print a skill's text and path",
    kind: "none",
    arity: [1, 2],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma skills show pdf",
  },
  {
    name: "skills check",
    usage: "[PATH]",
    summary: "list mistakes in skills",
    details:
      "Prints FILE:LINE:COL: severity code message for each. PATH is a skill, its SKILL.md or a folder of skills; " +
      "without it, checks all skills for this folder. The exit code is 1 if a mistake makes a skill unusable.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma skills check .agents/skills",
  },
];
