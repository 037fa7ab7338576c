// Finds links from a project into the private caches of commands, after commands have ended.

import type { Problem } from "../../base/problem.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { isInside } from "../../base/paths.ts";

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
  const snapshot = new FsSnapshot();
  return folders.flatMap((folder) => PLACES.flatMap((place) => linksIn(`${folder}${place}`)))
    .flatMap((path) => {
      const target = realPath(path, "/", snapshot);
      return target !== null && isInside(target, caches) ? [linkNotice(path, target)] : [];
    });
}

function linksIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].filter(({ isSymlink }) => isSymlink).map(({ name }) =>
      `${folder}/${name}`
    );
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
