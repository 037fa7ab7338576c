// Reads a SKILL.md and reports its mistakes, by its text and the name of its folder.

import { isObject } from "../../base/is_object.ts";
import { nearest } from "../../base/names.ts";
import { readSkillFrontmatter, skillError, type SkillFrontmatter } from "./frontmatter.ts";
import type { SkillFinding, SkillReading } from "./skill.ts";

/** Maximum number of characters of a name, a description, and the compatibility text. */
const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 1024;
const LONGEST_COMPATIBILITY = 500;

const KEYS = [
  "name",
  "description",
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
  "disable-model-invocation",
];

/**
 * Reads the text of a `SKILL.md`.
 *
 * @param text the whole file
 * @param folder the name of its folder
 */
export async function readSkill(text: string, folder: string): Promise<SkillReading> {
  const head = await readSkillFrontmatter(text.replace(/^\ufeff/, ""));
  if (!("values" in head)) return { skill: null, name: null, findings: head.findings };
  const name = nameIn(head, folder);
  const description = descriptionIn(head);
  const findings = [
    ...head.findings,
    ...name.findings,
    ...description.findings,
    ...optionalFindings(head),
    ...unknownKeys(head),
    ...(head.body.trim() === ""
      ? [warning(head.bodyLine, 1, "skill_body_empty", "there are no instructions below the frontmatter")]
      : []),
  ].sort((a, b) => a.line - b.line || a.column - b.column);
  const sound = findings.every(({ severity }) => severity === "warning");
  return {
    skill: sound && name.value !== null && description.value !== null
      ? {
        name: name.value,
        description: description.value,
        offered: head.values["disable-model-invocation"] !== true,
        body: head.body,
        bodyLine: head.bodyLine,
      }
      : null,
    name: name.value,
    findings,
  };
}

export function warning(line: number, column: number, code: string, message: string): SkillFinding {
  return { line, column, severity: "warning", code, message };
}

interface Field {
  readonly value: string | null;
  readonly findings: readonly SkillFinding[];
}

function nameIn(head: SkillFrontmatter, folder: string): Field {
  const { name } = head.values;
  if (name === undefined || name === null) return missing(head, "name", `add a line name: ${folder}`);
  const at = head.placeOf("name", "value");
  const invalid = (message: string): Field => ({
    value: null,
    findings: [skillError(at.line, at.column, "skill_name_invalid", message)],
  });
  if (typeof name !== "string") return invalid(`the name must be text; write name: "${String(name)}"`);
  const normal = name.normalize("NFC");
  if (normal === "") return invalid("the name is empty");
  if ([...normal].length > LONGEST_NAME) {
    return invalid(`the name has ${[...normal].length} characters; the maximum is ${LONGEST_NAME}`);
  }
  if (!/^[\p{Ll}\p{Lo}\p{Lm}\p{Nd}\p{Mn}\p{Mc}-]+$/u.test(normal)) {
    return invalid(
      `the name ${JSON.stringify(name)} may contain only lowercase letters, digits and single hyphens${
        suggested(normal)
      }`,
    );
  }
  if (/^-|-$|--/.test(normal)) {
    return invalid(
      `the name ${JSON.stringify(name)} may contain only single hyphens between letters or digits${
        suggested(normal)
      }`,
    );
  }
  const findings: SkillFinding[] = [];
  if (!/^[a-z0-9-]+$/.test(normal)) {
    const message = "other programs accept only names with a to z, digits and hyphens";
    findings.push(warning(at.line, at.column, "skill_name_beyond_ascii", message));
  }
  if (normal !== folder.normalize("NFC")) {
    const message = `the name is ${normal}, but the folder is ${folder}; the name is used`;
    findings.push(warning(at.line, at.column, "skill_name_not_folder", message));
  }
  return { value: normal, findings };
}

/** Suggests a valid name, as the end of a sentence. */
function suggested(name: string): string {
  const sound = name.toLowerCase().replaceAll(/[^\p{Ll}\p{Lo}\p{Nd}]+/gu, "-").replaceAll(/^-+|-+$/g, "");
  return sound === "" || sound === name ? "" : `; for example ${sound}`;
}

function descriptionIn(head: SkillFrontmatter): Field {
  const { description } = head.values;
  if (description === undefined || description === null) {
    return missing(head, "description", "say what the skill does and when to use it");
  }
  const at = head.placeOf("description", "value");
  const invalid = (message: string): Field => ({
    value: null,
    findings: [skillError(at.line, at.column, "skill_description_invalid", message)],
  });
  if (typeof description !== "string") return invalid("the description must be text");
  if (description.trim() === "") return invalid("the description is empty");
  const length = [...description.trim()].length;
  if (length > LONGEST_DESCRIPTION) {
    return invalid(`the description has ${length} characters; the maximum is ${LONGEST_DESCRIPTION}`);
  }
  return { value: description.trim().replaceAll(/\s+/g, " "), findings: [] };
}

/** Reports a missing key. The position is the line of the key if it is there but empty, otherwise the beginning. */
function missing(head: SkillFrontmatter, key: string, remedy: string): Field {
  const at = Object.hasOwn(head.values, key) ? head.placeOf(key, "key") : { line: 1, column: 1 };
  return {
    value: null,
    findings: [skillError(at.line, at.column, `skill_${key}_missing`, `the ${key} is missing; ${remedy}`)],
  };
}

/** Checks the format's optional keys. A mistake there is only a warning. */
function optionalFindings(head: SkillFrontmatter): SkillFinding[] {
  const tell = (key: string, message: string) => {
    const { line, column } = head.placeOf(key, "value");
    return warning(line, column, "skill_value_invalid", message);
  };
  const { license, compatibility, metadata } = head.values;
  const tools = head.values["allowed-tools"];
  const hidden = head.values["disable-model-invocation"];
  return [
    ...(isAbsent(license) || typeof license === "string"
      ? []
      : [tell("license", "the license must be text")]),
    ...compatibilityFindings(compatibility, (message) => tell("compatibility", message)),
    ...(isAbsent(metadata) || (isObject(metadata) && Object.values(metadata).every(isText))
      ? []
      : [tell("metadata", "the metadata must map names to text; put numbers and dates in quotes")]),
    ...(isAbsent(tools) || isText(tools) || (Array.isArray(tools) && tools.every(isText))
      ? []
      : [tell("allowed-tools", "allowed-tools must be tool names; they grant no permission here")]),
    ...(isAbsent(hidden) || typeof hidden === "boolean"
      ? []
      : [tell("disable-model-invocation", "disable-model-invocation must be true or false")]),
  ];
}

function compatibilityFindings(
  value: unknown,
  tell: (message: string) => SkillFinding,
): SkillFinding[] {
  if (isAbsent(value)) return [];
  if (!isText(value)) return [tell("the compatibility must be text")];
  const length = [...value].length;
  if (length <= LONGEST_COMPATIBILITY) return [];
  return [tell(`the compatibility has ${length} characters; the maximum is ${LONGEST_COMPATIBILITY}`)];
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function unknownKeys(head: SkillFrontmatter): SkillFinding[] {
  return Object.keys(head.values).filter((key) => !KEYS.includes(key)).map((key) => {
    const { line, column } = head.placeOf(key, "key");
    const near = nearest(key, KEYS);
    const hint = near === null ? "" : `; did you mean ${near}?`;
    return warning(line, column, "skill_key_unknown", `the key ${key} is unknown${hint}`);
  });
}
