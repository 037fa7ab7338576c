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

/** A notice for each link. A program that the person starts through one runs what commands can change. */
export function linksIntoCaches(folders: readonly string[], caches: string): Problem[] {
  return folders.flatMap((folder) => PLACES.flatMap((place) => linksIn(`${folder}${place}`)))
    .flatMap(({ path, target }) => isInside(target, caches) ? [linkNotice(path, target)] : []);
}

/** The links in a folder and where they lead by their text: there may be hundreds. */
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
