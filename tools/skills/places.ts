// Where skills are looked for, in the order in which a name that stands twice is decided.

import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { configFolder } from "../../base/folders.ts";
import { expandHome, normalPath, parentOf } from "../../base/paths.ts";

/** A folder with a folder for each skill. */
export interface SkillPlace {
  /** Absolute. */
  readonly path: string;
  /** Whose it is: named by the person's settings, come with the work, or the person's own. */
  readonly owner: "settings" | "project" | "person";
}

/** Whose skills are looked for. */
export interface SkillSubject {
  readonly environment: Environment;
  /** The folder of the document, or where the program was started; absolute. */
  readonly folder: string;
  /** `skills.dirs`. */
  readonly dirs: readonly string[];
}

/** Below the folder of a project, and below home as well. */
export const PROJECT_FOLDERS: readonly string[] = [".agents/skills", ".claude/skills"];

/** All places, whether anything stands there or not; the earlier wins on a name. */
export function skillPlaces({ environment, folder, dirs }: SkillSubject): SkillPlace[] {
  const { home } = environment;
  const at = (owner: SkillPlace["owner"]) => (path: string): SkillPlace => ({
    path: normalPath(path),
    owner,
  });
  const person = [...PROJECT_FOLDERS.map((name) => `${home}/${name}`), `${configFolder(environment)}/skills`]
    .map(at("person"));
  const own = new Set(person.map(({ path }) => path));
  const settings = dirs.map((dir) => expandHome(dir, home))
    .map((dir) => at("settings")(dir.startsWith("/") ? dir : `${configFolder(environment)}/${dir}`));
  // Where the work begins in the home folder itself, what lies there is the person's own.
  const project = foldersUp(folder, home).flatMap((each) => PROJECT_FOLDERS.map((name) => `${each}/${name}`))
    .map(at("project")).filter(({ path }) => !own.has(path));
  return [...settings, ...project, ...person];
}

/** The folder and those above it, up to the root of its repository or the home folder, whichever comes first. */
function foldersUp(folder: string, home: string): string[] {
  const folders: string[] = [];
  for (let at = normalPath(folder);; at = parentOf(at)) {
    folders.push(at === "/" ? "" : at);
    if (at === "/" || at === normalPath(home) || isRoot(at)) return folders;
  }
}

function isRoot(folder: string): boolean {
  try {
    return isThere(`${folder}/.git`);
  } catch {
    // Out of reach: then what lies above it is no business of this document either.
    return true;
  }
}
