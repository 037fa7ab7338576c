// Removes temporary files of a run that was killed during a write.

import type { Environment } from "../../../base/environment.ts";
import { isMissing, removeIfThere, temporaryPrefix } from "../../../base/files.ts";
import { baseName, cutName, parentOf } from "../../../base/paths.ts";
import { ASIDE_NAME_BYTES } from "./rescue.ts";
import { documentKey, stateFolder } from "../state_files.ts";

/**
 * Removes the temporary files of a document, next to it and in the state folder. Call it only while holding the
 * document's lock, because then no other run writes. Throws the system's errors.
 */
export async function removeLeftovers(realPath: string, environment: Environment): Promise<void> {
  const state = stateFolder(environment);
  const key = await documentKey(realPath);
  const aside = `${cutName(baseName(realPath), ASIDE_NAME_BYTES)}.flemma-`;
  await removeFrom(parentOf(realPath), [temporaryPrefix(realPath), aside]);
  await removeFrom(`${state}/saved`, [aside]);
  for (const folder of ["journal", "overwrite"]) await removeFrom(`${state}/${folder}`, [`${key}.`]);
}

/** Matches the part of the name of one of our temporary files that follows the prefix. */
const TEMPORARY = /^(?:.*\.)?[0-9a-f]{8}\.tmp$|^(?:old|new)\.tmp$/;

async function removeFrom(folder: string, prefixes: readonly string[]): Promise<void> {
  for (const name of namesIn(folder)) {
    const prefix = prefixes.find((each) => name.startsWith(each));
    if (prefix === undefined || !TEMPORARY.test(name.slice(prefix.length))) continue;
    if ((await Deno.lstat(`${folder}/${name}`)).isFile) await removeIfThere(`${folder}/${name}`);
  }
}

function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch (thrown) {
    if (isMissing(thrown)) return [];
    throw thrown;
  }
}
