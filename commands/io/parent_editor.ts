// Whether an editor started this process: told by the variables that editors give to their children.

import type { Environment } from "../../base/environment.ts";

/** Variables that editors set for the programs they start, one or more an editor. */
const VARIABLES = [
  "VIMRUNTIME",
  "VIM",
  "NVIM",
  "NVIM_LISTEN_ADDRESS",
  "INSIDE_EMACS",
  "kak_session",
  "KAKOUNE_SESSION",
  "HELIX_RUNTIME",
  "VSCODE_PID",
  "ZED_TERM",
  "TEXTADEPT_HOME",
  "vis_filename",
] as const;

/** True when one of them is set. */
export function editorAround({ variables }: Environment): boolean {
  return VARIABLES.some((name) => variables[name] !== undefined);
}
