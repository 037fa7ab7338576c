// Requires approval for writes to files that run when the person starts a program, even if a list approves the tool.

import { realPath } from "../../base/disk/real_path.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import type { ToolDefinition } from "../definition.ts";
import type { ApprovalDowngrade } from "./downgrades.ts";

/** Facts that determine whether a call writes a watched file. */
export interface WatchedParts {
  /** The definition of the called tool. */
  definition(tool: string): Pick<ToolDefinition, "files" | "path_input"> | undefined;
  readonly sandbox: Pick<Sandbox, "watchedBy">;
  /** Makes a path that a model wrote absolute. */
  resolve(path: string): string;
}

/** Downgrades calls that would write a watched file. */
export function watchedFile({ definition: definitionOf, sandbox, resolve }: WatchedParts): ApprovalDowngrade {
  return {
    name: "urn:flemma:approval:watched-file",
    lower({ name, input }, { decision }) {
      const definition = definitionOf(name);
      if (decision !== "approve" || definition?.files !== "write") return null;
      const path = definition.path_input === undefined ? undefined : input[definition.path_input];
      if (typeof path !== "string" || path === "") return null;
      const real = realPath(resolve(path), "/");
      const obeyedBy = real === null ? null : sandbox.watchedBy?.(real) ?? null;
      return obeyedBy === null ? null : { detail: `${obeyedBy} would act on ${path}` };
    },
  };
}
