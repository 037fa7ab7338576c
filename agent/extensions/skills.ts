// The skills of a document: finds them in the document's and the person's folders, and offers them to the model through
// one tool.

import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { nearest } from "../../base/names.ts";
import { parentOf, projectFolderOf } from "../../base/paths.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { FoundSkill, InspectedSkill } from "../../tools/skills/find.ts";
import { skillPlaces } from "../../tools/skills/places.ts";
import type { SkillFinding } from "../../tools/skills/skill.ts";
import type { ToolRegistry } from "../../tools/registry.ts";

/** Identifies a document whose skills to find. */
export interface SkillsSubject {
  readonly environment: Environment;
  readonly settings: Pick<Settings, "skills">;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
}

/** Finds all skills for a document, whatever their state. Fails if the list of trusted skills cannot be read. */
export async function skillsOf(subject: SkillsSubject): Promise<Outcome<readonly InspectedSkill[]>> {
  // Most people have no skills; then the code that reads them is not loaded.
  if (!mayHaveSkills(subject)) return success([]);
  const { findSkills } = await import("../../tools/skills/find.ts");
  return await findSkills(choiceOf(subject));
}

/** True if any folder for skills may exist. */
export function mayHaveSkills(subject: SkillsSubject): boolean {
  return subject.settings.skills.enabled &&
    skillPlaces(choiceOf(subject)).some(({ path }) => mayBeThere(path));
}

function choiceOf({ environment, document, settings: { skills } }: SkillsSubject) {
  return { ...skills, environment, folder: projectFolderOf(environment, document) };
}

/** A skill with all its faults. */
export interface CheckedSkill {
  readonly file: string;
  readonly findings: readonly SkillFinding[];
}

/**
 * Checks the skills at a path (a folder of skills, one skill, or its `SKILL.md`) as strictly as their authors need.
 */
export async function checkSkillsAt(path: string): Promise<readonly CheckedSkill[]> {
  const { skillsIn } = await import("../../tools/skills/find.ts");
  return await checked(await skillsIn(path));
}

/**
 * Checks all skills of a document, including a skill that another skill of the same name in an earlier folder hides.
 * Fails like `skillsOf`.
 */
export async function checkSkillsOf(subject: SkillsSubject): Promise<Outcome<readonly CheckedSkill[]>> {
  const found = await skillsOf(subject);
  return found.ok ? success(await checked(found.value)) : found;
}

async function checked(skills: readonly (FoundSkill & Partial<InspectedSkill>)[]): Promise<CheckedSkill[]> {
  const { checkSkill } = await import("../../tools/skills/check.ts");
  const all: CheckedSkill[] = [];
  for (const skill of skills) {
    const findings = await checkSkill(skill);
    const hidden: SkillFinding[] = skill.state !== "shadowed" ? [] : [{
      line: 1,
      column: 1,
      severity: "warning",
      code: "skill_shadowed",
      message: `${skill.by} has the same name and takes precedence`,
    }];
    all.push({ file: skill.file, findings: [...hidden, ...findings] });
  }
  return all;
}

/** Registers the tool that loads skills, if there are any; returns notices for the person. */
export async function registerSkills(
  tools: ToolRegistry,
  subject: SkillsSubject,
): Promise<Outcome<readonly Problem[]>> {
  const found = await skillsOf(subject);
  if (!found.ok) return found;
  if (found.value.length > 0) {
    const { offeredSkills, skillTool } = await import("../../tools/skills/tool.ts");
    const tool = skillTool(offeredSkills(found.value), subject.environment);
    // A host's own tool with that name is kept.
    if (tool !== null && !tools.has(tool.name)) {
      const registered = tools.registerFrom("built-in", tool);
      if (!registered.ok) return registered;
    }
  }
  return success([...untrusted(found.value), ...unknownNames(found.value, subject.settings)]);
}

/** Returns problems about skills of the project that the person has not agreed to, one for each folder of skills. */
function untrusted(found: readonly InspectedSkill[]): Problem[] {
  const folders = Map.groupBy(
    found.filter(({ state }) => state === "untrusted"),
    ({ folder }) => parentOf(folder),
  );
  return [...folders].map(([folder, skills]) => {
    const names = skills.map(({ reading }) => reading.name).join(", ");
    return {
      code: "skills-untrusted",
      message:
        `The model does not see these skills in ${folder}, because you have not trusted them: ${names}.`,
      next: `Read them. If you trust them: flemma trust ${operands(folder)}`,
    };
  });
}

export function unknownNames(
  found: readonly InspectedSkill[],
  { skills: { enabled, names } }: Pick<Settings, "skills">,
): Problem[] {
  if (!enabled) return [];
  const known = found.map(({ reading }) => reading.name).filter((name) => name !== null);
  return names.filter((name) => !/[*?[\\{]/.test(name) && !known.includes(name)).map((name) => {
    const near = nearest(name, known);
    return {
      code: "skill-unknown",
      message: `The settings name the skill ${name}, which does not exist.`,
      next: near === null ? "List the skills: flemma skills list" : `Did you mean ${near}?`,
    };
  });
}

function mayBeThere(path: string): boolean {
  try {
    return isThere(path);
  } catch {
    // The folder is inaccessible. Reading it reports the reason.
    return true;
  }
}
