// The folders that commands use in place of the person's own caches: one set for all trusted projects, and one for each
// other project.

import type { Environment } from "../../base/environment.ts";
import { canBeSeen } from "../../base/files.ts";
import { dataFolder } from "../../base/folders.ts";
import { quickHash } from "../../base/hash.ts";
import { baseName, isInside, parentOf } from "../../base/paths.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { trustedEntries } from "../../config/sources/trust.ts";

/** The entry of `rw_paths` that means the folders with the private caches. */
export const CACHES = "urn:flemma:caches";

/** Name of the set that is shared by all projects in which the person trusts something. No other set has this name. */
const TRUSTED = "trusted";

/** Names in a folder that show that it is the folder of a project. */
const MARKS = [".git", ".flemma"];

/** Where the sets are. Nothing that runs outside the sandbox reads them. */
export function privateCachesFolder(environment: Environment): string {
  return `${cacheFolder(environment)}/flemma/sandbox`;
}

/** The set for commands that run in the current folder. */
export function privateCaches(environment: Environment): string {
  const root = projectRoot(environment);
  const name = isTrustedProject(environment, root) ? TRUSTED : nameOf(root);
  return `${privateCachesFolder(environment)}/${name}`;
}

/**
 * What `CACHES` stands for.
 *
 * @param own the private set; null for the person's own folders
 */
export function cachePaths(own: string | null, environment: Environment): readonly string[] {
  return own === null
    ? [cacheFolder(environment), dataFolder(environment)]
    : [own, toolDataFolder(environment)];
}

/** The folder in which tool files in the sandbox store their data. */
export function toolDataFolder(environment: Environment): string {
  return `${dataFolder(environment)}/flemma/vellum`;
}

/** The nearest folder that looks like a project, but neither the home folder nor one above it; else the folder itself. */
function projectRoot({ cwd, home }: Environment): string {
  for (let at = cwd; at !== "/" && !isInside(home, at); at = parentOf(at)) {
    if (MARKS.some((name) => canBeSeen(`${at}/${name}`))) return at;
  }
  return cwd;
}

/** Whether the person trusted settings, servers, tools or skills of this project. An unreadable list trusts nothing. */
function isTrustedProject(environment: Environment, root: string): boolean {
  const entries = trustedEntries(environment);
  const real = realPath(root, environment.cwd) ?? root;
  return entries.ok &&
    entries.value.some(({ path }) =>
      path === `${real}/.mcp.json` || isInside(path, real) && /\/(?:\.flemma\/.*|SKILL\.md)$/.test(path)
    );
}

/** A readable name, and a digest that tells projects of the same name apart. */
function nameOf(root: string): string {
  const word = baseName(root).replace(/[^\w.-]+/g, "-").replace(/^\.+/, "").slice(0, 40);
  return `${word}-${quickHash(root)}${quickHash(`${root} again`)}`;
}

function cacheFolder({ variables: { XDG_CACHE_HOME }, home }: Environment): string {
  return XDG_CACHE_HOME?.startsWith("/") ? XDG_CACHE_HOME.replace(/\/+$/, "") : `${home}/.cache`;
}
