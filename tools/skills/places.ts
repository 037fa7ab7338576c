// Folders in which skills are searched, in order of precedence.

import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { configFolder } from "../../base/folders.ts";
import { expandHome, normalPath, parentOf } from "../../base/paths.ts";

/** A folder with a subfolder for each skill. */
export interface SkillPlace {
  /** Absolute path. */
  readonly path: string;
  /** Origin: the person's settings, the project, or the person's home folder. */
  readonly owner: "settings" | "project" | "person";
}

/** The document whose skills are searched. */
export interface SkillSubject {
  readonly environment: Environment;
  /** Absolute path of the document's folder, or of the program's start folder. */
  readonly folder: string;
  /** The setting `skills.dirs`. */
  readonly dirs: readonly string[];
}

/** Skill folders in a project's folder, and also in the home folder. */
export const PROJECT_FOLDERS: readonly string[] = [".agents/skills", ".claude/skills"];

/** All places, whether they exist or not; earlier ones take precedence. */
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
  // If the work starts in the home folder itself, its skills are the person's own.
  const project = foldersUp(folder, home).flatMap((each) => PROJECT_FOLDERS.map((name) => `${each}/${name}`))
    .map(at("project")).filter(({ path }) => !own.has(path));
  return [...settings, ...project, ...person];
}

/** The folder and its parents, up to the root of its repository or the home folder, whichever comes first. */
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
    // The folder is unreadable, so its parents do not belong to this document either.
    return true;
  }
}
