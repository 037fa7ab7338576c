// Finds and reads the skills on this machine for one document, and decides which ones the model sees.

import { byBytes } from "../../base/bytes.ts";
import type { Environment } from "../../base/environment.ts";
import { baseName } from "../../base/paths.ts";
import { type Outcome, success, thrownText } from "../../base/problem.ts";
import { readChecked } from "../../base/system/reading.ts";
import { faultWords, textFault } from "../../base/text/text_fault.ts";
import { nameFilter } from "../../config/rules/name_filter.ts";
import { isTrusted } from "../../config/sources/trust.ts";
import { filesBelow } from "./files.ts";
import { skillError } from "./frontmatter.ts";
import { type SkillPlace, skillPlaces, type SkillSubject } from "./places.ts";
import { readSkill } from "./read.ts";
import { SKILL_FILE, type SkillFinding, type SkillReading } from "./skill.ts";

/** Maximum size of a `SKILL.md` in bytes. */
const LARGEST = 1024 * 1024;

/** A folder with a `SKILL.md`, as it was read. */
export interface FoundSkill {
  /** Absolute path, as it was found. */
  readonly folder: string;
  /** Path of the skill's `SKILL.md`. */
  readonly file: string;
  /** The whole text; empty if it could not be read. */
  readonly text: string;
  readonly reading: SkillReading;
}

/** State of a skill in a document, and why. */
export interface InspectedSkill extends FoundSkill {
  readonly owner: SkillPlace["owner"];
  /**
   * `offered`: the model sees it. `broken`: it cannot be read. `untrusted`: it comes with the project, and
   * nobody trusted it. `shadowed`: an earlier place has a skill of the same name. `hidden`: its author hides it from
   * models. `unlisted`: the document's list excludes it.
   */
  readonly state: "offered" | "broken" | "untrusted" | "shadowed" | "hidden" | "unlisted";
  /** File of the skill with the same name, if this skill is shadowed. */
  readonly by?: string;
}

/** Selection of the skills that a document uses. */
export interface SkillChoice extends SkillSubject {
  /** Names in `skills`; `*` matches any characters. */
  readonly names: readonly string[];
  /** Names to exclude, in the same form. */
  readonly excluded: readonly string[];
}

/** Returns all skills of a document, by place and name. Fails if the trust list cannot be read. */
export async function findSkills(choice: SkillChoice): Promise<Outcome<readonly InspectedSkill[]>> {
  const isChosen = nameFilter(choice.names, choice.excluded);
  const checked: InspectedSkill[] = [];
  const known = new Map<string, string>();
  const seen = new Set<string>();
  for (const { path, owner } of skillPlaces(choice)) {
    for (const found of await skillsIn(path)) {
      // The same skill may be found at two places through a link. It is listed only once.
      const real = await realPathOr(found.file);
      if (seen.has(real)) continue;
      seen.add(real);
      const { skill } = found.reading;
      if (skill === null) {
        checked.push({ ...found, owner, state: "broken" });
        continue;
      }
      if (owner === "project") {
        const trusted = await isAgreedTo(choice.environment, found);
        if (!trusted.ok) return trusted;
        if (!trusted.value) {
          checked.push({ ...found, owner, state: "untrusted" });
          continue;
        }
      }
      const by = known.get(skill.name);
      if (by !== undefined) {
        checked.push({ ...found, owner, state: "shadowed", by });
        continue;
      }
      known.set(skill.name, found.file);
      const state = !skill.offered ? "hidden" : isChosen(skill.name) ? "offered" : "unlisted";
      checked.push({ ...found, owner, state });
    }
  }
  return success(checked);
}

/** The skills of a folder, by name: the folder itself, or its subfolders. */
export async function skillsIn(place: string): Promise<FoundSkill[]> {
  if (await holdsSkill(place)) return [await skillAt(place)];
  const folders = (await foldersIn(place)).filter((name) => !name.startsWith(".")).sort(byBytes);
  const found: FoundSkill[] = [];
  for (const name of folders) {
    const folder = `${place}/${name}`;
    if (await holdsSkill(folder)) found.push(await skillAt(folder));
    else {
      const misnamed = await misnamedIn(folder);
      if (misnamed !== null) found.push(misnamed);
    }
  }
  return found;
}

/** A misspelled `SKILL.md`, which only a file system that ignores case would find. */
async function misnamedIn(folder: string): Promise<FoundSkill | null> {
  try {
    for await (const { name } of Deno.readDir(folder)) {
      if (!/^skill\.(?:md|markdown)$/i.test(name)) continue;
      const findings = [skillError(1, 1, "skill_file_name", `the file must be named ${SKILL_FILE}`)];
      return { folder, file: `${folder}/${name}`, text: "", reading: { skill: null, name: null, findings } };
    }
  } catch {
    // The path is not a folder, or is not accessible, so it contains no skills.
  }
  return null;
}

/** The skill of a folder that contains a `SKILL.md`. */
export async function skillAt(folder: string): Promise<FoundSkill> {
  const file = `${folder}/${SKILL_FILE}`;
  const broken = (finding: SkillFinding): FoundSkill => ({
    folder,
    file,
    text: "",
    reading: { skill: null, name: null, findings: [finding] },
  });
  try {
    const bytes = await readChecked(
      file,
      (_, info) =>
        !info.isFile
          ? `${SKILL_FILE} is not a regular file`
          : info.size > LARGEST
          ? `${SKILL_FILE} is larger than ${LARGEST / 1024} KiB; move details to other files in its folder`
          : null,
    );
    if (typeof bytes === "string") return broken(skillError(1, 1, "skill_unreadable", bytes));
    const fault = textFault(bytes);
    if (fault !== null) {
      const message = faultWords(fault).replace(/^[^:]*: /, "");
      return broken(skillError(fault.line, fault.column, "skill_not_text", message));
    }
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    // If the path ends in "." or "..", the name of the skill is compared with the name of the folder to which it
    // refers.
    const named = /(^|\/)\.{1,2}$/.test(folder) ? await Deno.realPath(folder) : folder;
    return { folder, file, text, reading: await readSkill(text, baseName(named)) };
  } catch (thrown) {
    return broken(skillError(1, 1, "skill_unreadable", `the file cannot be read: ${thrownText(thrown)}`));
  }
}

/**
 * True if a person trusted exactly these files. An incomplete file list is never trusted. Fails if the trust list
 * cannot be read.
 */
export async function isAgreedTo(environment: Environment, skill: FoundSkill): Promise<Outcome<boolean>> {
  const { path, files } = await agreedFiles(skill);
  return files === null ? success(false) : await isTrusted(environment, path, skill.text, { data: files });
}

/**
 * Returns what trust in a skill is bound to: the real path of its `SKILL.md`, and all other files; null if there are
 * too many files.
 */
export async function agreedFiles(
  { folder, file }: Pick<FoundSkill, "folder" | "file">,
): Promise<{ readonly path: string; readonly files: readonly string[] | null }> {
  const path = await realPathOr(file);
  // Trust is bound to the real path, so it does not matter through which link the skill was found.
  const real = await realPathOr(folder);
  const { paths, complete } = await filesBelow(real);
  if (!complete) return { path, files: null };
  return { path, files: paths.filter((name) => name !== SKILL_FILE).map((name) => `${real}/${name}`) };
}

async function holdsSkill(folder: string): Promise<boolean> {
  try {
    await Deno.lstat(`${folder}/${SKILL_FILE}`);
    return true;
  } catch (thrown) {
    // A file that exists but is unreadable is a skill that cannot be read.
    return thrown instanceof Deno.errors.PermissionDenied;
  }
}

async function foldersIn(place: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name, isFile } of Deno.readDir(place)) if (!isFile) names.push(name);
  } catch {
    // Most of these folders do not exist.
  }
  return names;
}

async function realPathOr(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch {
    // If the path has no real path, it cannot be read either. Reading it reports the error.
    return path;
  }
}
