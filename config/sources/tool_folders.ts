// Finds folders of tool files, and checks whether the person agreed to those of a project.

import { isThere } from "../../base/files.ts";
import { configFolder } from "../../base/folders.ts";
import type { Environment } from "../../base/environment.ts";
import { projectFolderOf } from "../../base/paths.ts";
import { type Outcome, success, thrownText } from "../../base/problem.ts";
import { failure } from "../../base/problem.ts";
import { isTrusted, recordTrust, type TrustEntry } from "./trust.ts";

/** Existing folders of tool files for a document. */
export interface ToolFolders {
  readonly user: string | null;
  readonly project: string | null;
}

/**
 * Finds the existing folders for a document, or for the working folder if it is null, without reading files. The
 * project's folder is the first `.flemma/tools` on the way up to the home folder or a repository root.
 */
export function toolFolders(environment: Environment, document: string | null): ToolFolders {
  const user = `${configFolder(environment)}/tools`;
  return { user: isFolder(user) ? user : null, project: projectFolder(environment, document) };
}

function projectFolder(environment: Environment, document: string | null): string | null {
  const { home } = environment;
  const start = projectFolderOf(environment, document);
  for (let at = start.replace(/\/+$/, "");; at = at.slice(0, at.lastIndexOf("/"))) {
    if (isFolder(`${at}/.flemma/tools`)) return `${at}/.flemma/tools`;
    if (at === "" || at === home.replace(/\/+$/, "") || isThere(`${at}/.git`)) return null;
  }
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    // The folder is missing or inaccessible. In both cases nothing can be loaded.
    return false;
  }
}

/** Returns the sorted names of files in a folder of tool files. Fails with `file-unreadable`. */
export async function filesIn(folder: string): Promise<Outcome<readonly string[]>> {
  const names: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (!isDirectory && !name.startsWith(".")) names.push(name);
    }
  } catch (thrown) {
    return failure("file-unreadable", `Cannot list the tool files in ${folder}: ${thrownText(thrown)}.`);
  }
  return success(names.sort());
}

/**
 * True if the person agreed to exactly these files and to the files they import. A new file name needs a new agreement.
 */
export async function areTrusted(
  environment: Environment,
  folder: string,
  names: readonly string[],
): Promise<Outcome<boolean>> {
  return await isTrusted(environment, folder, names.join("\n"), agreedFiles(folder, names));
}

/** Records that the person agrees to the files in their current state. */
export async function trustFiles(
  environment: Environment,
  folder: string,
  names: readonly string[],
): Promise<Outcome<TrustEntry>> {
  return await recordTrust(environment, folder, names.join("\n"), agreedFiles(folder, names), new Date());
}

/** Returns the code files in those of the given folders that exist, and the files that this code loads. */
export async function codeIn(folders: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    const names = isFolder(folder) ? await filesIn(folder) : null;
    // A folder that cannot be listed is reported by the search for tool files.
    if (names?.ok) found.push(...agreedFiles(folder, names.value).code);
  }
  return found;
}

function agreedFiles(
  folder: string,
  names: readonly string[],
): { code: readonly string[]; data: readonly string[] } {
  const paths = names.map((name) => `${folder}/${name}`);
  return { code: paths.filter(isCode), data: paths.filter((path) => !isCode(path)) };
}

function isCode(path: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(path);
}
