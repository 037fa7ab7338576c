// Prepares programs that flemma starts outside the sandbox: they use only folders, caches and variables that no command
// can change.

import type { Environment } from "../../base/environment.ts";
import { stateFolder } from "../../base/folders.ts";
import { cutName, isInside } from "../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { cacheVariables } from "../policy/tool_caches.ts";
import type { Sandbox } from "../types.ts";

/**
 * Returns the folder for programs outside the sandbox. It is in the state folder, where nothing in the sandbox writes.
 */
export function outsideFolder(environment: Environment): string {
  return `${stateFolder(environment)}/outside`;
}

/** The real paths that commands of a sandbox can write; none if commands are not confined. */
export function writableRoots(sandbox: Pick<Sandbox, "enabled" | "policy">): readonly string[] {
  const policy = sandbox.enabled ? sandbox.policy() : null;
  return policy?.ok ? policy.value.rw_paths : [];
}

/** Variables whose value is a list of places from which programs load code, separated by colons. */
const SEARCHED: readonly string[] = [
  "CLASSPATH",
  "GEM_PATH",
  "LD_LIBRARY_PATH",
  "LD_PRELOAD",
  "MANPATH",
  "NODE_PATH",
  "PATH",
  "PERL5LIB",
  "PERLLIB",
  "PYTHONPATH",
  "RUBYLIB",
];

/** Variables whose value names a place or options from which programs load code. */
const LOADED: readonly string[] = [
  "BASH_ENV",
  "CONDA_PREFIX",
  "ENV",
  "GEM_HOME",
  "JAVA_TOOL_OPTIONS",
  "JDK_JAVA_OPTIONS",
  "NODE_OPTIONS",
  "PERL5OPT",
  "PYTHONHOME",
  "PYTHONSTARTUP",
  "PYTHONUSERBASE",
  "RUBYOPT",
  "VIRTUAL_ENV",
  "ZDOTDIR",
  "_JAVA_OPTIONS",
];

/** Working folder and environment variables of a program outside the sandbox. */
export interface OutsidePlace {
  /** A working folder of their own. */
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Creates the working folder of a program outside the sandbox, and adapts its variables: its caches and temporary files
 * are in the state folder, and it searches nothing in folders that commands can write. Fails with `outside-folder`.
 *
 * @param name identifies the program; the same name gives the same folder
 * @param variables of the program before they are adapted
 * @param roots real paths that commands can write
 */
export function makeOutsidePlace(
  name: string,
  variables: Readonly<Record<string, string>>,
  environment: Environment,
  roots: readonly string[],
): Outcome<OutsidePlace> {
  const outside = outsideFolder(environment);
  const cwd = `${outside}/work/${cutName(encodeURIComponent(name), 200)}`;
  const reached = outOfReach(variables, roots);
  const caches = cacheVariables(`${outside}/cache`, { ...environment, variables: reached });
  try {
    for (const folder of [cwd, `${outside}/cache`, `${outside}/tmp`]) {
      Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    }
    // Package runners look for a project in the folders around theirs, up to the first one that is a package.
    Deno.writeTextFileSync(`${cwd}/package.json`, '{ "private": true }\n', { createNew: true, mode: 0o600 });
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.AlreadyExists)) {
      return failure(
        "outside-folder",
        `The folder ${cwd} for a program outside the sandbox cannot be created: ${thrownText(thrown)}.`,
        "Free disk space, or set XDG_STATE_HOME to a writable folder.",
      );
    }
  }
  return success({ cwd, variables: { ...reached, ...caches, TMPDIR: `${outside}/tmp` } });
}

/** Returns the variables without paths that commands can write, and without paths that depend on the working folder. */
export function outOfReach(
  variables: Readonly<Record<string, string>>,
  roots: readonly string[],
): Record<string, string> {
  const kept = { ...variables };
  for (const name of SEARCHED) {
    const value = kept[name];
    if (value === undefined) continue;
    kept[name] = value.split(":").filter((place) => place.startsWith("/") && !isInReach(place, roots)).join(
      ":",
    );
  }
  for (const name of LOADED) {
    const places = (kept[name] ?? "").match(/\/[^\s:,"']*/g) ?? [];
    if (places.some((place) => isInReach(place, roots))) delete kept[name];
  }
  return kept;
}

/** True if commands can write to a path or to the target of its links. */
export function isInReach(path: string, roots: readonly string[]): boolean {
  const real = realPath(path, "/");
  const inside = (place: string) => roots.some((root) => root !== "/" && isInside(place, root));
  return real === null || inside(real) || inside(path);
}
