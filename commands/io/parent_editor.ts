// Whether an editor started this process, and whether standard error could get into its buffer.

import type { Environment } from "../../base/environment.ts";
import { errorIsOutput } from "./streams.ts";

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

/** Whether what a filter writes to standard error could land in the document. */
export function mayReachDocument(environment: Environment): boolean {
  if (errorIsOutput()) return true;
  // Some editors read both streams although they are two.
  return !Deno.stderr.isTerminal() && (editorAround(environment) || takesErrors());
}

/** Process names of editors that replace the selection by the standard error of a filter; packages may wrap them. */
const TAKES_ERRORS = /^\.?(hx|helix)(-wrapped)?$/;

/** Ancestors that are looked at: an editor starts a shell, and that the program, perhaps by scripts. */
const MOST_ANCESTORS = 32;

/** Whether an ancestor of this process is an editor that puts standard error into the buffer. Known on Linux only. */
export function takesErrors(): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    let pid = Deno.ppid;
    for (let count = 0; count < MOST_ANCESTORS && pid > 1; count++) {
      // The name stands in parentheses and may hold some itself; the parent's number is the second word behind it.
      const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
      const end = stat.lastIndexOf(")");
      if (TAKES_ERRORS.test(stat.slice(stat.indexOf("(") + 1, end))) return true;
      pid = Number(stat.slice(end + 2).split(" ")[1]);
    }
  } catch {
    // An ancestor ended in this moment, or there is no /proc here: nothing more can be known.
  }
  return false;
}
