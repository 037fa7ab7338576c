// The folders of skills that tools must not change: what is loaded from there counts as the person's word (S11).

import { canBeSeen } from "../../base/files.ts";
import { isInside, parentOf } from "../../base/paths.ts";
import { trustedEntries } from "../../config/sources/trust.ts";
import { skillPlaces, type SkillSubject } from "./places.ts";
import { SKILL_FILE } from "./skill.ts";

/**
 * The person's own places, whether they are there yet or not, and of a project the skills that were agreed to: a new one
 * may be written there, as nobody is told of it before the person agrees.
 */
export function protectedSkillFolders(subject: SkillSubject): string[] {
  const places = skillPlaces(subject);
  const own = places.filter(({ owner }) => owner !== "project").map(({ path }) => path);
  // What is out of reach for us is so for commands.
  const project = places.filter(({ owner, path }) => owner === "project" && canBeSeen(path));
  if (project.length === 0) return own;
  const trusted = trustedEntries(subject.environment);
  // That the list cannot be read is told by whoever looks for skills; without it none of a project is loaded.
  const entries = trusted.ok ? trusted.value.map(({ path }) => path) : [];
  const agreed = entries.filter((path) =>
    path.endsWith(`/${SKILL_FILE}`) && project.some((place) => isInside(path, realOf(place.path)))
  );
  return [...own, ...agreed.map(parentOf)];
}

function realOf(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    // A link that leads nowhere holds nothing.
    return path;
  }
}
