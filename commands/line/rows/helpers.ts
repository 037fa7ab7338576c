// The commands about the helpers (sub-agents) of documents.

import type { Command } from "../spec.ts";
import { CONFIG, HELP, JSON_REPORT } from "./options.ts";

export const HELPER_COMMANDS: readonly Command[] = [
  {
    name: "subagents list",
    standard: true,
    usage: "[FILE]",
    summary: "list helpers, and what is in their git worktrees",
    details:
      "Lists the helpers that FILE asked, or those of all documents on this machine, with their documents, worktrees and branches.",
    kind: "none",
    arity: [0, 1],
    options: [JSON_REPORT, ...CONFIG, HELP],
    example: "flemma subagents list notes.chat",
  },
  {
    name: "subagents clean",
    usage: "[FILE]",
    summary: "remove git worktrees of helpers that are no longer needed",
    details:
      "Shows what it would remove; --yes removes it. A worktree goes with its branch, and only if all of its work is in " +
      "another branch. A helper that works or waits for you keeps everything.",
    kind: "none",
    arity: [0, 1],
    options: [
      { name: "yes", short: "y", help: "Remove, instead of showing what would be removed." },
      { name: "unmerged", help: "Also remove worktrees and branches with work that is nowhere else." },
      { name: "documents", help: "Also remove the documents of helpers." },
      { name: "waiting", help: "Also remove what belongs to helpers that wait for you." },
      JSON_REPORT,
      ...CONFIG,
      HELP,
    ],
    example: "flemma subagents clean notes.chat",
  },
];
