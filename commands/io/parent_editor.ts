// Detects whether an editor started this process, and whether standard error could get into the editor's buffer.

import type { Environment } from "../../base/environment.ts";
import { errorIsOutput } from "./streams.ts";

/** Variables that editors set for programs they start. */
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

/** True if an editor started this process, judged by its environment variables. */
export function isInEditor({ variables }: Environment): boolean {
  return VARIABLES.some((name) => variables[name] !== undefined);
}

/** True if a filter's standard error could end up in the document. */
export function mayReachDocument(environment: Environment): boolean {
  if (errorIsOutput()) return true;
  // Some editors put standard error into the buffer even if it is separate from standard output.
  return !Deno.stderr.isTerminal() && (isInEditor(environment) || takesErrors());
}

/**
 * Process names of editors that replace the selection with a filter's standard error; packages may wrap these
 * programs.
 */
const TAKES_ERRORS = /^\.?(hx|helix)(-wrapped)?$/;

/** Number of ancestors to inspect: an editor starts a shell, which may start scripts before this program. */
const MOST_ANCESTORS = 32;

/** True if an ancestor is an editor that puts standard error into the buffer. Always false outside Linux. */
export function takesErrors(): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    let pid = Deno.ppid;
    for (let count = 0; count < MOST_ANCESTORS && pid > 1; count++) {
      // The name is in parentheses and may itself contain parentheses. The parent's pid is the second word after it.
      const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
      const end = stat.lastIndexOf(")");
      if (TAKES_ERRORS.test(stat.slice(stat.indexOf("(") + 1, end))) return true;
      pid = Number(stat.slice(end + 2).split(" ")[1]);
    }
  } catch {
    // An ancestor has just ended, or there is no /proc, so nothing more can be found out.
  }
  return false;
}
