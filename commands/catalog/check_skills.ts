// `flemma skills check`: reports mistakes in skills, for their authors.

import { type CheckedSkill, checkSkillsAt, checkSkillsOf } from "../../agent/extensions/skills.ts";
import { baseName, parentOf } from "../../base/paths.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { visible } from "../../base/visible.ts";
import { settingsFor } from "../document/read.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { positionals: [path] } = invocation.arguments;
  const checked = path === undefined ? await allOf(invocation) : await at(path);
  if (!checked.ok) return refuse(invocation, checked.problem);
  const findings = checked.value.flatMap(({ file, findings }) => findings.map((each) => ({ file, ...each })));
  if (switchOption(invocation.arguments, "json") === true) writeOutput(`${safeJson(findings)}\n`);
  else {
    for (const { file, line, column, severity, code, message } of findings) {
      writeOutput(`${visible(`${file}:${line}:${column}: ${severity} ${code} ${message}`)}\n`);
    }
    invocation.messages.note(summary(checked.value));
  }
  return checked.value.some(hasError) ? Exit.failure : Exit.ok;
}

/** Returns the skills at a path, labeled as the person named them. */
async function at(named: string): Promise<Outcome<readonly CheckedSkill[]>> {
  const path = named.replace(/(.)\/+$/, "$1");
  const isFile = await Deno.stat(path).then((info) => info.isFile, () => null);
  if (isFile === null) {
    return failure(
      "file-missing",
      `There is no file ${named}.`,
      "Name a skill, its SKILL.md, or a folder of skills.",
    );
  }
  const folder = !isFile ? path : path.includes("/") ? parentOf(path) : ".";
  const checked = isFile && baseName(path) !== "SKILL.md" ? [] : await checkSkillsAt(folder);
  return checked.length > 0 ? success(checked) : failure(
    "skill-missing",
    `There is no skill at ${named}: it is neither a SKILL.md nor a folder that contains one.`,
    "Name a skill's folder, its SKILL.md, or a folder of skills.",
  );
}

async function allOf(invocation: Invocation): Promise<Outcome<readonly CheckedSkill[]>> {
  const subject = await settingsFor(invocation, { path: null, frontmatter: null, preamble: null });
  if (!subject.ok) return subject;
  const { settings } = subject.value;
  const skills = { ...settings.skills, enabled: true };
  return await checkSkillsOf({ environment: invocation.environment, settings: { skills }, document: null });
}

function hasError({ findings }: CheckedSkill): boolean {
  return findings.some(({ severity }) => severity === "error");
}

function summary(checked: readonly CheckedSkill[]): string {
  const broken = checked.filter(hasError).length;
  const skills = checked.length === 1 ? "1 skill" : `${checked.length} skills`;
  return broken === 0 ? `${skills} checked: no errors.` : `${skills} checked: ${broken} not usable.`;
}
