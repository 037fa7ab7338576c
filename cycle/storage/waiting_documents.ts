// The documents whose calls wait on this machine, by path: commands of other documents could write into them.

import type { Environment } from "../../base/environment.ts";
import { isThere, replaceSmallFile } from "../../base/files.ts";
import { documentKey, stateFolder } from "./state_files.ts";

/** Remembers that calls of the document at a real path may wait. */
export async function noteWaiting(environment: Environment, path: string): Promise<void> {
  const folder = folderOf(environment);
  const file = `${folder}/${await documentKey(path)}`;
  if (isThere(file)) return;
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceSmallFile(file, new TextEncoder().encode(path), { durable: false });
}

/** Forgets a document without open calls. */
export async function forgetWaiting(environment: Environment, path: string): Promise<void> {
  try {
    Deno.removeSync(`${folderOf(environment)}/${await documentKey(path)}`);
  } catch {
    // Not remembered, or not removable: then it is compared once more.
  }
}

/** Real paths of these documents. */
export function waitingDocuments(environment: Environment): string[] {
  const folder = folderOf(environment);
  try {
    return [...Deno.readDirSync(folder)].filter(({ name }) => !name.includes("."))
      .map(({ name }) => Deno.readTextFileSync(`${folder}/${name}`));
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return [];
    throw thrown;
  }
}

function folderOf(environment: Environment): string {
  return `${stateFolder(environment)}/waiting`;
}
