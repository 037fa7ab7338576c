// `flemma skills list | show`: lists skills, where they are, and whether the model gets them.

import { skillsOf, unknownNames } from "../../agent/extensions/skills.ts";
import { blocksOf } from "../../agent/settings.ts";
import { nearest } from "../../base/names.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { readForReport, settingsFor } from "../document/read.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";

type Skills = Extract<Awaited<ReturnType<typeof skillsOf>>, { readonly ok: true }>["value"];
type Skill = Skills[number];

export async function run(invocation: Invocation): Promise<number> {
  const { command: { name }, positionals } = invocation.arguments;
  const showing = name === "skills show";
  const found = await skillsFor(invocation, positionals[showing ? 1 : 0]);
  if ("exit" in found) return found.exit;
  return showing ? show(invocation, positionals[0]!, found.skills) : list(invocation, found.skills);
}

/** Returns the skills for a document or for this folder, or the exit code after reporting an error. */
async function skillsFor(
  invocation: Invocation,
  file: string | undefined,
): Promise<{ readonly skills: Skills } | { readonly exit: number }> {
  const opened = file === undefined ? null : await readForReport(invocation, file);
  if (opened !== null && "exit" in opened) return opened;
  const document = opened?.path ?? null;
  const subject = await settingsFor(invocation, { path: document, ...blocksOf(opened?.chat ?? null) });
  if (!subject.ok) return { exit: refuse(invocation, subject.problem) };
  const { settings, environment } = subject.value;
  if (!settings.skills.enabled) {
    invocation.messages.note("Skills are disabled in the settings (skills.enabled).");
  }
  const found = await skillsOf({ environment, settings, document });
  if (!found.ok) return { exit: refuse(invocation, found.problem) };
  for (const notice of unknownNames(found.value, settings)) invocation.messages.notice(notice);
  return { skills: found.value };
}

function list({ arguments: given, messages }: Invocation, skills: Skills): number {
  if (switchOption(given, "json") === true) {
    writeOutput(`${safeJson(skills.map(asJson))}\n`);
    return Exit.ok;
  }
  const width = Math.max(0, ...skills.map((skill) => nameOf(skill).length));
  const lines = skills.flatMap((skill) => [
    `${STATES[skill.state].padEnd(10)} ${nameOf(skill).padEnd(width)}  ${skill.folder}`,
    `           ${" ".repeat(width)}  ${remark(skill)}`,
  ]);
  writeLines(lines.map((line) => `${line}\n`).join(""));
  if (skills.length === 0) messages.note("There are no skills for this folder.");
  return Exit.ok;
}

function show(invocation: Invocation, name: string, skills: Skills): number {
  const found = skillNamed(name, skills);
  if (!found.ok) return refuse(invocation, found.problem);
  const skill = found.value;
  if (switchOption(invocation.arguments, "json") === true) {
    writeOutput(`${safeJson({ ...asJson(skill), text: skill.text })}\n`);
    return Exit.ok;
  }
  invocation.messages.note(`${STATES[skill.state]}: ${skill.file}`);
  writeLines(skill.text.endsWith("\n") ? skill.text : `${skill.text}\n`);
  return Exit.ok;
}

/** Returns the skill with this name that the model would get, else the first one with the name. */
function skillNamed(name: string, skills: Skills): Outcome<Skill> {
  const named = skills.filter((skill) => nameOf(skill) === name);
  const found = named.find(({ state }) => state === "offered") ?? named[0];
  if (found !== undefined) return success(found);
  const near = nearest(name, skills.map(nameOf));
  return failure(
    "skill-unknown",
    `There is no skill named ${name}.`,
    near === null ? "List the skills: flemma skills list" : `Did you mean ${near}?`,
  );
}

const STATES: Readonly<Record<Skill["state"], string>> = {
  offered: "offered",
  broken: "broken",
  untrusted: "untrusted",
  shadowed: "shadowed",
  hidden: "hidden",
  unlisted: "left out",
};

function nameOf({ reading, folder }: Skill): string {
  return reading.name ?? folder.slice(folder.lastIndexOf("/") + 1);
}

/** Returns the description, or why the model does not get the skill. */
function remark(skill: Skill): string {
  const { state, folder, file, by, reading: { skill: text, findings } } = skill;
  switch (state) {
    case "broken": {
      const [first] = findings.filter(({ severity }) => severity === "error");
      return `${file}:${first?.line}:${first?.column}: ${first?.message}`;
    }
    case "untrusted":
      return `read it; if you trust it: flemma trust ${operands(folder)}`;
    case "shadowed":
      return `${by} has the same name and takes precedence`;
    case "hidden":
      return "its author hides it from models (disable-model-invocation)";
    case "unlisted":
      return "the settings exclude it (skills)";
    case "offered":
      return text?.description ?? "";
  }
}

function asJson(skill: Skill) {
  const { state, owner, folder, file, by, reading: { skill: text, findings } } = skill;
  const description = text?.description ?? null;
  return {
    name: nameOf(skill),
    state,
    description,
    owner,
    folder,
    file,
    ...(by === undefined ? {} : { by }),
    findings,
  };
}
