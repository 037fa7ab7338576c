// The skills on this machine for one document: found, read, and judged whether the model may be told of them.

import { byBytes } from "../../base/bytes.ts";
import type { Environment } from "../../base/environment.ts";
import { nameOf } from "../../base/paths.ts";
import { type Outcome, success, thrownText } from "../../base/problem.ts";
import { readChecked } from "../../base/system/reading.ts";
import { faultWords, textFault } from "../../base/text/text_fault.ts";
import { nameFilter } from "../../config/rules/name_filter.ts";
import { isTrusted } from "../../config/sources/trust.ts";
import { filesBelow } from "./files.ts";
import { wrong } from "./frontmatter.ts";
import { type SkillPlace, skillPlaces, type SkillSubject } from "./places.ts";
import { readSkill } from "./read.ts";
import { SKILL_FILE, type SkillFinding, type SkillReading } from "./skill.ts";

/** Bytes of a `SKILL.md`. */
const LARGEST = 1024 * 1024;

/** A folder with a `SKILL.md`, as it was read. */
export interface FoundSkill {
  /** Absolute, as it was found. */
  readonly folder: string;
  /** Its `SKILL.md`. */
  readonly file: string;
  /** The whole text; empty when it could not be read. */
  readonly text: string;
  readonly reading: SkillReading;
}

/** What becomes of a skill in a document, and why. */
export interface InspectedSkill extends FoundSkill {
  readonly owner: SkillPlace["owner"];
  /**
   * `offered`: the model is told of it. `broken`: it cannot be read. `untrusted`: it came with the project, and nobody
   * agreed to it. `shadowed`: an earlier place has the name. `hidden`: its author keeps it from models. `unlisted`: the
   * document's list leaves it out.
   */
  readonly state: "offered" | "broken" | "untrusted" | "shadowed" | "hidden" | "unlisted";
  /** The file that has the name, where it is shadowed. */
  readonly by?: string;
}

/** Which skills a document takes. */
export interface SkillChoice extends SkillSubject {
  /** Names of `skills`; `*` stands for any characters. */
  readonly names: readonly string[];
  /** The same for those that are left out all the same. */
  readonly excluded: readonly string[];
}

/** All skills of a document, by place and name. Fails when what is trusted cannot be read. */
export async function findSkills(choice: SkillChoice): Promise<Outcome<readonly InspectedSkill[]>> {
  const isChosen = nameFilter(choice.names, choice.excluded);
  const checked: InspectedSkill[] = [];
  const known = new Map<string, string>();
  const seen = new Set<string>();
  for (const { path, owner } of skillPlaces(choice)) {
    for (const found of await skillsIn(path)) {
      // A link from one place to another does not make a skill two.
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

/** The skills of a folder: it may be one itself, or hold a folder for each. By name. */
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

/** A file that was meant to be a `SKILL.md`, and is found under its name only where letters of both sizes are the same. */
async function misnamedIn(folder: string): Promise<FoundSkill | null> {
  try {
    for await (const { name } of Deno.readDir(folder)) {
      if (!/^skill\.(?:md|markdown)$/i.test(name)) continue;
      const findings = [wrong(1, 1, "skill_file_name", `the file must be named ${SKILL_FILE}`)];
      return { folder, file: `${folder}/${name}`, text: "", reading: { skill: null, name: null, findings } };
    }
  } catch {
    // No folder, or one that is out of reach: nothing of ours.
  }
  return null;
}

/** The skill of a folder that holds a `SKILL.md`. */
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
          ? `${SKILL_FILE} is no regular file`
          : info.size > LARGEST
          ? `${SKILL_FILE} is larger than ${LARGEST / 1024} KiB; put details into files beside it`
          : null,
    );
    if (typeof bytes === "string") return broken(wrong(1, 1, "skill_unreadable", bytes));
    const fault = textFault(bytes);
    if (fault !== null) {
      const message = faultWords(fault).replace(/^[^:]*: /, "");
      return broken(wrong(fault.line, fault.column, "skill_not_text", message));
    }
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    // "." has the name of the folder it stands for.
    const named = /(^|\/)\.{1,2}$/.test(folder) ? await Deno.realPath(folder) : folder;
    return { folder, file, text, reading: await readSkill(text, nameOf(named)) };
  } catch (thrown) {
    return broken(wrong(1, 1, "skill_unreadable", `the file cannot be read: ${thrownText(thrown)}`));
  }
}

/**
 * Whether a person agreed to exactly these files. What could not be listed whole is agreed to by nobody. Fails when what
 * is trusted cannot be read.
 */
export async function isAgreedTo(environment: Environment, skill: FoundSkill): Promise<Outcome<boolean>> {
  const { path, files } = await agreedFiles(skill);
  return files === null ? success(false) : await isTrusted(environment, path, skill.text, files);
}

/** What an agreement to a skill is bound to: the real path of its `SKILL.md`, and all other files; null for too many. */
export async function agreedFiles(
  { folder, file }: Pick<FoundSkill, "folder" | "file">,
): Promise<{ readonly path: string; readonly files: readonly string[] | null }> {
  const path = await realPathOr(file);
  // By whatever links it is found, it is the same folder.
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
    // What is there and out of reach is a skill that cannot be read.
    return thrown instanceof Deno.errors.PermissionDenied;
  }
}

async function foldersIn(place: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name, isFile } of Deno.readDir(place)) if (!isFile) names.push(name);
  } catch {
    // Most places are not there.
  }
  return names;
}

async function realPathOr(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch {
    // It cannot be read either, and is told of as that.
    return path;
  }
}
