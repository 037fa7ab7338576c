// Whether a program of the person's can be started, and the exit code by which a shell tells that it cannot.

import type { Problem } from "../../base/problem.ts";
import { shellWord } from "../../base/shell_word.ts";

/** Exit codes of shells, `env`, `nice` and the like (POSIX, "Exit status for commands"). */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Where the system looks without the variable. */
const USUAL_PATH = "/bin:/usr/bin";

/** Why a program does not start, and the exit code that says so. */
export interface Unstartable {
  readonly exit: number;
  readonly problem: Problem;
}

/**
 * Looks a program up as the system does: by a path, or in the folders of `path`, of which an empty one is the working
 * directory. Null when it can be started, as far as can be seen from outside.
 *
 * @param path the variable `PATH` of the command
 */
export function unstartable(name: string, cwd: string, path: string | undefined): Unstartable | null {
  const folders = (path ?? USUAL_PATH).split(":");
  const candidates = name.includes("/")
    ? [name]
    : name === ""
    ? []
    : folders.map((folder) => `${folder || "."}/${name}`);
  const kinds = candidates.map((candidate) =>
    kindOf(candidate.startsWith("/") ? candidate : `${cwd}/${candidate}`)
  );
  if (kinds.includes("executable")) return null;
  if (kinds.includes("folder") && name.includes("/")) {
    return refused(
      NOT_EXECUTABLE,
      "program-not-executable",
      `${name} is a folder, no program.`,
      "Name a program.",
    );
  }
  const file = candidates[kinds.indexOf("file")];
  if (file !== undefined) {
    return refused(
      NOT_EXECUTABLE,
      "program-not-executable",
      `The file ${file} is not executable.`,
      `Make it executable (chmod u+x ${shellWord(file)}), or name the program that reads it.`,
    );
  }
  const where = name.includes("/") ? "" : " in the folders of PATH";
  return refused(
    NOT_FOUND,
    "program-not-found",
    `There is no program ${JSON.stringify(name)}${where}.`,
    "Correct its name, or install it.",
  );
}

/** What a runtime threw when it was to start a program, as an exit code; null for what is no fault of the program. */
export function exitOfThrown(thrown: unknown): number | null {
  if (thrown instanceof Deno.errors.NotFound) return NOT_FOUND;
  return thrown instanceof Deno.errors.PermissionDenied ? NOT_EXECUTABLE : null;
}

function refused(exit: number, code: string, message: string, next: string): Unstartable {
  return { exit, problem: { code, message, next } };
}

function kindOf(path: string): "executable" | "file" | "folder" | "missing" {
  try {
    const { isDirectory, mode } = Deno.statSync(path);
    if (isDirectory) return "folder";
    return ((mode ?? 0) & 0o111) !== 0 ? "executable" : "file";
  } catch {
    // Missing, a link to nothing, or out of sight: the system finds no program there either.
    return "missing";
  }
}
