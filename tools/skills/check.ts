// Checks a skill for its author: its text, and the files that it refers to.

import type { FoundSkill } from "./find.ts";
import { warning } from "./read.ts";
import type { SkillFinding } from "./skill.ts";

/** Returns all findings, sorted by position. */
export async function checkSkill({ folder, reading }: FoundSkill): Promise<readonly SkillFinding[]> {
  const { skill, findings } = reading;
  if (skill === null) return findings;
  const missing: SkillFinding[] = [];
  for (const { target, line, column } of linksIn(skill.body, skill.bodyLine)) {
    if (await isThere(`${folder}/${target}`)) continue;
    missing.push(
      warning(line, column, "skill_file_missing", `${target} does not exist in the skill's folder`),
    );
  }
  return [...findings, ...missing];
}

interface Link {
  /** Target of the link, relative to the skill's folder. */
  readonly target: string;
  readonly line: number;
  readonly column: number;
}

/** Markdown links to files of the skill, outside of fenced blocks. */
function linksIn(body: string, firstLine: number): Link[] {
  const links: Link[] = [];
  let fence: string | null = null;
  for (const [at, line] of body.split("\n").entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === null) fence = mark;
      else if (mark.startsWith(fence)) fence = null;
      continue;
    }
    if (fence !== null) continue;
    for (const found of withoutCode(line).matchAll(/\]\(<?([^)\s<>]+)>?(?:\s+["'][^"']*["'])?\)/g)) {
      const target = pathOf(found[1]!);
      if (target !== null) links.push({ target, line: firstLine + at, column: found.index + 3 });
    }
  }
  return links;
}

/** The line with code spans blanked, since they contain no links. */
function withoutCode(line: string): string {
  return line.replaceAll(/(`+)[^`]*?\1/g, (code) => " ".repeat(code.length));
}

/** Returns the path of a link inside the folder; null for URLs, anchors and paths outside the folder. */
function pathOf(link: string): string | null {
  if (/^[a-z][a-z\d+.-]*:|^[/#~]|[*{}]/i.test(link) || link.split("/").includes("..")) return null;
  const path = link.replace(/[?#].*$/, "");
  try {
    return path === "" ? null : decodeURIComponent(path);
  } catch {
    // An unescaped percent sign is part of the name.
    return path;
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    // The file is missing or unreadable, so a reader of the skill cannot open it.
    return false;
  }
}
