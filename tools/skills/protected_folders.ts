// Skill folders that tools must not change, because skills from there are followed like instructions of the person.

import { canBeSeen, realPathOrNull } from "../../base/files.ts";
import { isInside, parentOf } from "../../base/paths.ts";
import { trustedEntries } from "../../config/sources/trust.ts";
import { skillPlaces, type SkillSubject } from "./places.ts";
import { SKILL_FILE } from "./skill.ts";

/**
 * Returns the person's own skill folders, whether they exist or not, and the folders of trusted project skills. Tools
 * may write a new project skill, because models do not see it until the person trusts it.
 */
export function protectedSkillFolders(subject: SkillSubject): string[] {
  const places = skillPlaces(subject);
  const own = places.filter(({ owner }) => owner !== "project").map(({ path }) => path);
  // A path that is unreadable here is unreadable for commands.
  const project = places.filter(({ owner, path }) => owner === "project" && canBeSeen(path));
  if (project.length === 0) return own;
  const trusted = trustedEntries(subject.environment);
  // An unreadable trust list is reported by the search for skills; without it no project skill is loaded.
  const entries = trusted.ok ? trusted.value.map(({ path }) => path) : [];
  const agreed = entries.filter((path) =>
    path.endsWith(`/${SKILL_FILE}`) &&
    project.some((place) => isInside(path, realPathOrNull(place.path) ?? place.path))
  );
  return [...own, ...agreed.map(parentOf)];
}
