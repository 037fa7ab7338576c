// Folder of `flemma ask` documents, and the record of the last one.

import type { Environment } from "../../../base/environment.ts";
import { readOrNull, replaceSmallFile } from "../../../base/files.ts";
import { configFolder, stateFolder } from "../../../base/folders.ts";
import { expandHome } from "../../../base/paths.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../../base/problem.ts";
import { option } from "../../../base/shell_word.ts";

/** Returns the default folder, and the file in it that names the last document. */
const folderOf = (environment: Environment): string => `${stateFolder(environment)}/asks`;
const lastIn = (environment: Environment): string => `${folderOf(environment)}/last`;

/**
 * Returns a path for a new document in the folder of the setting `ask.dir`, by default in the state folder. Creates
 * the folder.
 */
export async function nextPlace(environment: Environment, dir: string | null): Promise<Outcome<string>> {
  const given = dir === null ? folderOf(environment) : expandHome(dir, environment.home);
  const folder = given.startsWith("/") ? given : `${configFolder(environment)}/${given}`;
  try {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    return failure(
      "document-unwritable",
      `${folder} cannot be created: ${thrownText(thrown)}.`,
      "Set another folder in ask.dir, or name a document with --file FILE.",
    );
  }
  const [day, time = ""] = new Date().toISOString().split("T");
  const name = `${day}-${time.slice(0, 8).replaceAll(":", "")}-${crypto.randomUUID().slice(0, 4)}.chat`;
  return success(`${folder}/${name}`);
}

/** Records the real path of the document that the question is asked in; returns the problem if it cannot. */
export async function keepLast(environment: Environment, path: string): Promise<Problem | null> {
  try {
    await Deno.mkdir(folderOf(environment), { recursive: true, mode: 0o700 });
    await replaceSmallFile(lastIn(environment), new TextEncoder().encode(`${path}\n`), { durable: false });
    return null;
  } catch (thrown) {
    return {
      code: "state-unwritable",
      message: `flemma ask --last cannot find this conversation later: ${thrownText(thrown)}.`,
      next: `Continue it with: flemma ask ${option("--file", path)} …`,
    };
  }
}

/** Returns the path of the document in which the last question was asked. */
export async function lastAsked(environment: Environment): Promise<Outcome<string>> {
  const bytes = await readOrNull(lastIn(environment));
  const path = bytes === null ? "" : new TextDecoder().decode(bytes).trimEnd();
  return path === ""
    ? failure(
      "usage",
      "There is no last conversation, because you have not asked anything yet.",
      "Leave out --last.",
    )
    : success(path);
}
