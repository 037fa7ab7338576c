// Whether a program of the person's can be started, and the exit code by which a shell tells that it cannot.

import { isThere } from "../../base/files.ts";
import type { Problem } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";

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
  const named = name.includes("/");
  const candidates = named ? [name] : inFolders(name, path ?? USUAL_PATH);
  const places = candidates.map((candidate) => candidate.startsWith("/") ? candidate : `${cwd}/${candidate}`);
  const kinds = places.map(kindOf);
  if (kinds.includes("executable")) return null;
  const script = places[kinds.indexOf("orphan")];
  if (script !== undefined) {
    return notExecutable(
      `The file ${name} is to be read by ${JSON.stringify(interpreterOf(script))}, which is not there.`,
      "Correct its first line, or install that program.",
    );
  }
  if (named && kinds.includes("folder")) {
    return notExecutable(`${name} is a folder, no program.`, "Name a program.");
  }
  const file = candidates[kinds.indexOf("file")];
  if (file !== undefined) {
    return notExecutable(
      `The file ${file} is not executable.`,
      `Make it executable (chmod u+x ${operands(file)}), or name the program that reads it.`,
    );
  }
  const code = "program-not-found";
  const message = `There is no program ${JSON.stringify(name)}${named ? "" : " in the folders of PATH"}.`;
  return { exit: NOT_FOUND, problem: { code, message, next: "Correct its name, or install it." } };
}

/** Where a name without a path may stand; an empty name is nowhere. */
function inFolders(name: string, path: string): readonly string[] {
  return name === "" ? [] : path.split(":").map((folder) => `${folder || "."}/${name}`);
}

function notExecutable(message: string, next: string): Unstartable {
  return { exit: NOT_EXECUTABLE, problem: { code: "program-not-executable", message, next } };
}

/** What a runtime threw when it was to start a program, as an exit code; null for what is no fault of the program. */
export function exitOfThrown(thrown: unknown): number | null {
  if (thrown instanceof Deno.errors.NotFound) return NOT_FOUND;
  return thrown instanceof Deno.errors.PermissionDenied ? NOT_EXECUTABLE : null;
}

/** `orphan`: a script whose interpreter is missing, which the system tells as if the script were. */
function kindOf(path: string): "executable" | "orphan" | "file" | "folder" | "missing" {
  try {
    const { isDirectory, mode } = Deno.statSync(path);
    if (isDirectory) return "folder";
    if (((mode ?? 0) & 0o111) === 0) return "file";
    const interpreter = interpreterOf(path);
    return interpreter?.startsWith("/") && !isThere(interpreter) ? "orphan" : "executable";
  } catch {
    // Missing, a link to nothing, or out of sight: the system finds no program there either.
    return "missing";
  }
}

/** Bytes of a first line that the system reads. */
const FIRST_LINE = 256;

/** The program that a script's first line names; null for what is no script, or may only be run and not be read. */
function interpreterOf(path: string): string | null {
  try {
    using file = Deno.openSync(path);
    const bytes = new Uint8Array(FIRST_LINE);
    const beginning = new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
    return /^#![ \t]*([^ \t\n]+)/.exec(beginning)?.[1] ?? null;
  } catch {
    return null;
  }
}
