// Files that run when the person starts a tool are written only after a question, whatever list approves the tool.

import { realPath } from "../../base/disk/real_path.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import type { ToolDefinition } from "../definition.ts";
import { type Verdict, withChain } from "./types.ts";

/** Name of the source in verdicts that this rule lowered. */
export const WATCHED_FILE = "urn:flemma:approval:watched-file";

/** What is asked about one call of a tool that writes files in this program itself. */
export interface WrittenFile {
  readonly definition: Pick<ToolDefinition, "files" | "path_input"> | undefined;
  readonly input: Readonly<Record<string, unknown>>;
  readonly sandbox: Pick<Sandbox, "watchedBy">;
  /** Absolute path of what a model wrote. */
  resolve(path: string): string;
}

/** The verdict, lowered to a question where the call would write a watched file. */
export function askForWatched(
  verdict: Verdict,
  { definition, input, sandbox, resolve }: WrittenFile,
): Verdict {
  if (verdict.decision !== "approve" || definition?.files !== "write") return verdict;
  const path = definition.path_input === undefined ? undefined : input[definition.path_input];
  if (typeof path !== "string" || path === "") return verdict;
  const real = realPath(resolve(path), "/");
  const obeyedBy = real === null ? null : sandbox.watchedBy?.(real) ?? null;
  if (obeyedBy === null) return verdict;
  const detail = `${obeyedBy} would obey ${path}`;
  return { decision: "require_approval", source: WATCHED_FILE, detail, ...withChain(verdict) };
}
