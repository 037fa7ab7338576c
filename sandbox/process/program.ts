// Finds a helper program that commands inside the sandbox cannot have planted.

import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Environment } from "../../base/environment.ts";
import { parentOf } from "../../base/paths.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { isInside } from "../../base/paths.ts";

/**
 * The absolute path of an executable outside every writable path. A name without a slash is looked up in `PATH`;
 * relative and empty entries of it are ignored, because they depend on the working directory. A name with a slash is
 * relative to the working directory.
 *
 * Fails with `program-not-found`, `program-not-executable` or `program-in-writable-path`.
 */
export function findProgram(
  name: string,
  environment: Environment,
  writable: readonly string[],
): Outcome<string> {
  if (name.includes("/")) {
    const path = name.startsWith("/") ? name : `${environment.cwd}/${name}`;
    return inspectProgram(path, environment.cwd, writable);
  }
  let planted: string | undefined;
  for (const folder of (environment.variables.PATH ?? "").split(":")) {
    if (!folder.startsWith("/")) continue;
    const path = `${folder}/${name}`;
    if (kindOf(path) !== "executable") continue;
    const inspected = inspectProgram(path, environment.cwd, writable);
    if (inspected.ok) return inspected;
    planted ??= path;
  }
  return planted === undefined
    ? failure("program-not-found", `The program ${name} was not found in PATH.`)
    : inWritablePath(planted);
}

function inspectProgram(path: string, cwd: string, writable: readonly string[]): Outcome<string> {
  const kind = kindOf(path);
  if (kind === "missing") return failure("program-not-found", `The program ${path} does not exist.`);
  if (kind === "other") return failure("program-not-executable", `The file ${path} is not executable.`);
  // Commands must be able to write neither to the folder that contains the name nor to the program to which its links
  // lead. The root as a writable path is ignored here, because then every folder would be writable; other code reports
  // such a policy.
  const folder = realPath(parentOf(path), cwd);
  const target = realPath(path, cwd);
  const reachable = (place: string | null) =>
    place === null || writable.some((root) => root !== "/" && isInside(place, root));
  return reachable(folder) || reachable(target) ? inWritablePath(path) : success(path);
}

function inWritablePath(path: string): Outcome<never> {
  return failure(
    "program-in-writable-path",
    `The program ${path} is in a folder that commands in the sandbox can change, so it is not used.`,
    "Install it in a system folder, or remove that folder from sandbox.policy.rw_paths.",
  );
}

function kindOf(path: string): "executable" | "other" | "missing" {
  try {
    const { isFile, mode } = Deno.statSync(path);
    return isFile && mode !== null && (mode & 0o111) !== 0 ? "executable" : "other";
  } catch {
    return "missing";
  }
}
