// The working folder that a document's frontmatter names (`cwd`), and whether it takes effect.

import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { expandHome, folderOfDocument, foldersBetween, isInside } from "../../base/paths.ts";
import { type Outcome, success } from "../../base/problem.ts";
import type { Frontmatter } from "../../parser/types.ts";
import { LayerLog } from "../layers/log.ts";
import { isTrusted, recordTrust } from "../sources/trust.ts";
import { authorityOf } from "./authority.ts";
import { isHomeOrAbove, projectRootOf, realFolder } from "./project_root.ts";
import type { DocumentSettings, FrontmatterDiagnostic } from "./first_block.ts";

/** The working folder of a document's tools, as its frontmatter names it. */
export interface WorkFolder {
  /** Real path. */
  readonly folder: string;
  /** True if it is outside the document's folder and the person has not agreed to it; it then has no effect. */
  readonly waits: boolean;
}

export interface WorkFolderQuestion {
  readonly environment: Environment;
  /** Real path of the document; null if it is unsaved. */
  readonly path: string | null;
  readonly frontmatter: Frontmatter;
  readonly document: DocumentSettings;
}

/**
 * Finds the working folder that the frontmatter names. Null if it names the document's own folder. Fails with the end
 * of the sentence that begins with `"cwd" `.
 */
export async function findWorkFolder(
  { environment, path, frontmatter, document }: WorkFolderQuestion,
): Promise<{ readonly found: WorkFolder | null } | { readonly wrong: string }> {
  const named = document.settings.cwd;
  if (named === null) return { found: null };
  const own = realFolder(path === null ? environment.cwd : folderOfDocument(path)) ?? environment.cwd;
  const folder = realFolder(absoluteFrom(own, expandHome(named, environment.home)));
  if (folder === null) return { wrong: `names ${named}, which is not a folder` };
  if (folder === own) return { found: null };
  const agreed = path !== null && await isFolderAgreed(environment, path, folder);
  if (isHomeOrAbove(folder, environment.home)) {
    // The person who asks in the home folder works there already.
    const isHere = agreed && realFolder(environment.cwd) === folder;
    return isHere ? { found: { folder, waits: false } } : {
      wrong: `names ${folder}, which is your home folder or contains it. ${
        agreed ? "Start flemma in that folder to continue" : "Name a folder below it"
      }`,
    };
  }
  if (agreed) return { found: { folder, waits: false } };
  const root = projectRootOf(own, environment.home);
  if (!isInside(folder, root ?? own)) {
    return {
      wrong: root === null
        ? `names ${folder}, which is outside the document's folder, and the document is not in a project (a folder with .git or .flemma)`
        : `names ${folder}, which is outside the document's project ${root}`,
    };
  }
  const authority = authorityOf(withRealFolder(document, folder).logs, frontmatter.code);
  const waits = reachesOut(own, folder) &&
    !(path !== null && isYes(await isTrusted(environment, path, authority.text)));
  return { found: { folder, waits } };
}

/** Returns the settings with the real path of the working folder, which is what a person agrees to. */
export function withRealFolder(document: DocumentSettings, folder: string): DocumentSettings {
  const logs = document.logs.map((log) =>
    log.layer !== "M" ? log : new LayerLog(
      "M",
      log.operations.map((each) => each.path.join(".") === "cwd" ? { ...each, value: folder } : each),
    )
  );
  return { ...document, logs, settings: { ...document.settings, cwd: folder } };
}

/** Returns the diagnostic for a working folder that cannot be used; `wrong` is the end of the sentence. */
export function wrongFolder(wrong: string, { start, end }: Frontmatter): FrontmatterDiagnostic {
  const code = "config_invalid_value";
  return { code, type: "config", severity: "error", message: `"cwd" ${wrong}.`, key: "cwd", start, end };
}

/** Records that the person chose the working folder of a document that flemma wrote. */
export async function agreeToFolder(
  environment: Environment,
  path: string,
  folder: string,
): Promise<Outcome<void>> {
  const recorded = await recordTrust(environment, entryOf(path), folder, {}, new Date());
  return recorded.ok ? success(undefined) : recorded;
}

/** True if the person chose this working folder for a document that flemma wrote. */
export async function isFolderAgreed(
  environment: Environment,
  path: string,
  folder: string,
): Promise<boolean> {
  return isYes(await isTrusted(environment, entryOf(path), folder));
}

/** A list of agreements that cannot be read counts as empty. `flemma trust` and the approval decision report it. */
function isYes(answer: Outcome<boolean>): boolean {
  return answer.ok && answer.value;
}

/** Returns the path under which the agreement to a document's working folder is recorded. */
function entryOf(path: string): string {
  return `${path}#cwd`;
}

/**
 * True if the tools could reach more than in the document's own folder, or other rules would hold: the folder is outside
 * of it, hidden, or a project of its own.
 */
function reachesOut(own: string, folder: string): boolean {
  if (!isInside(folder, own)) return true;
  if (/\/\./.test(folder.slice(own.length))) return true;
  return [folder, ...foldersBetween(own, folder)].some((each) =>
    [".git", ".flemma", ".mcp.json"].some((name) => isThere(`${each}/${name}`))
  );
}

function absoluteFrom(folder: string, path: string): string {
  return path.startsWith("/") ? path : `${folder}/${path}`;
}
