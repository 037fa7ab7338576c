// Finds links from a project into the private caches of commands, after commands have ended.

import type { Problem } from "../../base/problem.ts";
import { isInside, normalPath } from "../../base/paths.ts";

/** Folders in which package managers make such links, below a working folder. */
const PLACES = [
  "",
  "/.venv/bin",
  "/venv/bin",
  "/env/bin",
  "/node_modules",
  "/node_modules/.bin",
  "/bin",
  "/vendor",
];

/**
 * Returns a notice for each link into the private caches. If the person starts a program through such a link, the
 * program runs files that commands can change.
 */
export function linksIntoCaches(folders: readonly string[], caches: string): Problem[] {
  return folders.flatMap((folder) => PLACES.flatMap((place) => linksIn(`${folder}${place}`)))
    .flatMap(({ path, target }) => isInside(target, caches) ? [linkNotice(path, target)] : []);
}

/**
 * Returns the links in a folder with their targets. Only the text of a link decides its target, because there may be
 * hundreds of links.
 */
function linksIn(folder: string): { readonly path: string; readonly target: string }[] {
  try {
    return [...Deno.readDirSync(folder)].filter(({ isSymlink }) => isSymlink).map(({ name }) => {
      const path = `${folder}/${name}`;
      const target = Deno.readLinkSync(path);
      return { path, target: normalPath(target.startsWith("/") ? target : `${folder}/${target}`) };
    });
  } catch {
    return []; // Missing, or not readable for this program.
  }
}

function linkNotice(path: string, target: string): Problem {
  return {
    code: "link-into-caches",
    message:
      `${path} leads to ${target}, in the caches of commands: whoever starts it runs a file that commands can change.`,
    next: "Create it again outside the sandbox before you use it.",
  };
}
