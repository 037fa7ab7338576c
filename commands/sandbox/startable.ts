// Checks whether a program can be started, and gives the exit code that a shell would use otherwise.

import { isThere } from "../../base/files.ts";
import type { Problem } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { openRegularSync } from "../../base/system/regular_file.ts";

/** Exit codes of shells, `env`, `nice` and similar programs (POSIX, "Exit status for commands"). */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** The value that the system uses if `PATH` is not set. */
const USUAL_PATH = "/bin:/usr/bin";

/** Reason why a program does not start, and its exit code. */
export interface Unstartable {
  readonly exit: number;
  readonly problem: Problem;
}

/**
 * Looks up a program as the system does: by path, or in the folders of `path`, where an empty entry is the working
 * directory. Null if the program can be started, as far as this is visible from outside the sandbox.
 *
 * @param path the variable `PATH` of the command
 */
export function explainUnstartable(name: string, cwd: string, path: string | undefined): Unstartable | null {
  const named = name.includes("/");
  const candidates = named ? [name] : inFolders(name, path ?? USUAL_PATH);
  const places = candidates.map((candidate) => candidate.startsWith("/") ? candidate : `${cwd}/${candidate}`);
  const kinds = places.map(kindOf);
  if (kinds.includes("executable")) return null;
  const script = places[kinds.indexOf("orphan")];
  if (script !== undefined) {
    return notExecutable(
      `The file ${name} needs the interpreter ${
        JSON.stringify(interpreterOf(script))
      }, which does not exist.`,
      "Correct its first line, or install that program.",
    );
  }
  if (named && kinds.includes("folder")) {
    return notExecutable(`${name} is a folder, not a program.`, "Name a program.");
  }
  const file = candidates[kinds.indexOf("file")];
  if (file !== undefined) {
    return notExecutable(
      `The file ${file} is not executable.`,
      `Make it executable (chmod u+x ${operands(file)}), or name its interpreter.`,
    );
  }
  const code = "program-not-found";
  const message = `There is no program ${JSON.stringify(name)}${named ? "" : " in PATH"}.`;
  return { exit: NOT_FOUND, problem: { code, message, next: "Correct its name, or install it." } };
}

/** Returns the candidates for a name without a slash; empty for an empty name. */
function inFolders(name: string, path: string): readonly string[] {
  return name === "" ? [] : path.split(":").map((folder) => `${folder || "."}/${name}`);
}

function notExecutable(message: string, next: string): Unstartable {
  return { exit: NOT_EXECUTABLE, problem: { code: "program-not-executable", message, next } };
}

/** Returns the exit code for an error on starting a program; null if the program is not the cause. */
export function exitOfThrown(thrown: unknown): number | null {
  if (thrown instanceof Deno.errors.NotFound) return NOT_FOUND;
  return thrown instanceof Deno.errors.PermissionDenied ? NOT_EXECUTABLE : null;
}

/** `orphan`: a script whose interpreter is missing. The system reports this as if the script itself were missing. */
function kindOf(path: string): "executable" | "orphan" | "file" | "folder" | "missing" {
  try {
    const { isDirectory, mode } = Deno.statSync(path);
    if (isDirectory) return "folder";
    if (((mode ?? 0) & 0o111) === 0) return "file";
    const interpreter = interpreterOf(path);
    return interpreter?.startsWith("/") && !isThere(interpreter) ? "orphan" : "executable";
  } catch {
    // The file is missing, not accessible, or a link that leads nowhere. The system finds no program at the path
    // either.
    return "missing";
  }
}

/** Number of bytes of the first line that the system reads. */
const FIRST_LINE = 256;

/** Returns the interpreter in a script's first line; null if the file is not a script or cannot be read. */
function interpreterOf(path: string): string | null {
  try {
    const { file } = openRegularSync(path);
    using _ = file;
    const bytes = new Uint8Array(FIRST_LINE);
    const beginning = new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
    return /^#![ \t]*([^ \t\n]+)/.exec(beginning)?.[1] ?? null;
  } catch {
    return null;
  }
}
