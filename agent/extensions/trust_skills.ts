// Trusts the skills of a project: shows the text that the model gets from each skill and the included files, and
// records the agreement.

import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { recordTrust } from "../../config/sources/trust.ts";
import { agreedFiles, type FoundSkill, isAgreedTo, skillsIn } from "../../tools/skills/find.ts";
import { MOST_FILES } from "../../tools/skills/files.ts";
import { PROJECT_FOLDERS } from "../../tools/skills/places.ts";
import { SKILL_FILE } from "../../tools/skills/skill.ts";
import type { Trustable, TrustOffer } from "./trustable.ts";

/** True if a folder may hold skills: it is a skill, or its name is `skills`. */
export function mayHoldSkills(folder: string): boolean {
  return isThere(`${folder}/${SKILL_FILE}`) || /(^|\/)skills$/.test(folder);
}

/**
 * Returns the skills of a folder that is a skill or contains skills. If no skill is valid, fails with the first
 * mistake.
 */
export async function trustableSkills(
  environment: Environment,
  folder: string,
): Promise<Outcome<TrustOffer>> {
  const found = await skillsIn(folder);
  const trustables: Trustable[] = [];
  const problems: Problem[] = [];
  for (const skill of found) {
    const made = await trustableSkill(environment, skill);
    if (made.ok) trustables.push(made.value);
    else problems.push(made.problem);
  }
  const [problem] = problems;
  return problem !== undefined && trustables.length === 0
    ? { ok: false, problem }
    : success({ trustables, leftOut: problems.map(({ message, next }) => `${message} ${next}`) });
}

/** Returns the skills of a project, if it has any. */
export async function projectSkills(environment: Environment, root: string): Promise<TrustOffer> {
  const trustables: Trustable[] = [];
  const leftOut: string[] = [];
  for (const name of PROJECT_FOLDERS) {
    const made = await trustableSkills(environment, `${root}/${name}`);
    if (!made.ok) leftOut.push(`${made.problem.message} ${made.problem.next}`);
    else {
      // One of the folders is often a link to the other folder.
      trustables.push(
        ...made.value.trustables.filter(({ path }) => !trustables.some((one) => one.path === path)),
      );
      leftOut.push(...made.value.leftOut);
    }
  }
  return { trustables, leftOut };
}

async function trustableSkill(environment: Environment, skill: FoundSkill): Promise<Outcome<Trustable>> {
  if (skill.reading.skill === null) {
    const [{ line = 1, column = 1, message = "" } = {}] = skill.reading.findings;
    return failure(
      "skill-broken",
      `${skill.file}:${line}:${column}: ${message}.`,
      `Correct it before you trust it. To see all errors: flemma skills check ${operands(skill.folder)}`,
    );
  }
  const { path, files } = await agreedFiles(skill);
  if (files === null) {
    return failure(
      "skill-too-large",
      `${skill.folder} cannot be trusted: it has more than ${MOST_FILES} files, or folders that cannot be read.`,
      "Remove the files that do not belong to the skill.",
    );
  }
  const { name, description } = skill.reading.skill;
  return success({
    path,
    lines: [
      `lets the model load the skill ${name}: ${description}`,
      ...files.map((file) => `includes ${file}`),
    ],
    nothing: "has no files",
    isAgreed: () => isAgreedTo(environment, skill),
    agree: async () => {
      const recorded = await recordTrust(environment, path, skill.text, { data: files }, new Date());
      return recorded.ok ? success([]) : recorded;
    },
    agreed: `The skill ${name} is trusted in its current version, until one of its files changes.`,
  });
}
