// Where tool files lie, and whether those that came with a project are ones that the person agreed to.

import { isThere } from "../../base/files.ts";
import { configFolder } from "../../base/folders.ts";
import type { Environment } from "../../base/environment.ts";
import { parentOf } from "../../base/paths.ts";
import { type Outcome, success, thrownText } from "../../base/problem.ts";
import { failure } from "../../base/problem.ts";
import { isTrusted, recordTrust, type TrustEntry } from "./trust.ts";

/** The folders of tool files that a document may have, where they are there. */
export interface ToolFolders {
  /** The person's own. */
  readonly user: string | null;
  /** That of the project. */
  readonly project: string | null;
}

/**
 * The folders that are there for a document, or for the working folder where it is null: a few looks, nothing is read.
 * The project's is the first `.flemma/tools` upwards to the home or the root of a repository.
 */
export function toolFolders(environment: Environment, document: string | null): ToolFolders {
  const user = `${configFolder(environment)}/tools`;
  return { user: isFolder(user) ? user : null, project: projectFolder(environment, document) };
}

function projectFolder({ home, cwd }: Environment, document: string | null): string | null {
  const start = document === null ? cwd : parentOf(document);
  for (let at = start.replace(/\/+$/, "");; at = at.slice(0, at.lastIndexOf("/"))) {
    if (isFolder(`${at}/.flemma/tools`)) return `${at}/.flemma/tools`;
    if (at === "" || at === home.replace(/\/+$/, "") || isThere(`${at}/.git`)) return null;
  }
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    // Missing, or closed to the person: then there is nothing to load either way.
    return false;
  }
}

/** The files in a folder of tool files by name, sorted. Fails with `file-unreadable`. */
export async function filesIn(folder: string): Promise<Outcome<readonly string[]>> {
  const names: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (!isDirectory && !name.startsWith(".")) names.push(name);
    }
  } catch (thrown) {
    return failure("file-unreadable", `The tool files in ${folder} cannot be listed: ${thrownText(thrown)}.`);
  }
  return success(names.sort());
}

/** Whether exactly these files, and what they import by path, were agreed to. Another name is another agreement. */
export async function areTrusted(
  environment: Environment,
  folder: string,
  names: readonly string[],
): Promise<Outcome<boolean>> {
  return await isTrusted(environment, folder, names.join("\n"), names.map((name) => `${folder}/${name}`));
}

/** Records that the person agrees to them as they are. */
export async function trustFiles(
  environment: Environment,
  folder: string,
  names: readonly string[],
): Promise<Outcome<TrustEntry>> {
  const files = names.map((name) => `${folder}/${name}`);
  return await recordTrust(environment, folder, names.join("\n"), files, new Date());
}
