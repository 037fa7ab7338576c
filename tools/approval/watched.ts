// Files that run when the person starts a tool are written only after a question, whatever list approves the tool.

import { realPath } from "../../base/disk/real_path.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import type { ToolDefinition } from "../definition.ts";
import type { ApprovalDowngrade } from "./downgrades.ts";

/** What tells whether a call writes a watched file. */
export interface WatchedParts {
  /** The definition of the tool that is called. */
  definition(tool: string): Pick<ToolDefinition, "files" | "path_input"> | undefined;
  readonly sandbox: Pick<Sandbox, "watchedBy">;
  /** The absolute path of what a model wrote. */
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
      return obeyedBy === null ? null : { detail: `${obeyedBy} would obey ${path}` };
    },
  };
}
