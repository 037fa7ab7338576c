// The documents whose calls wait on this machine, by path, and when commands ran that could write documents.

import type { Environment } from "../../base/environment.ts";
import { isThere, readOrNull, removeIfThere, replaceSmallFile } from "../../base/files.ts";
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
  return textsIn(folderOf(environment), (name) => !name.includes(".")).map(({ text }) => text);
}

/** Name of the file with the time when the last commands ended. */
const ENDED = ".ended";

/** Records that commands begin. The text of the record is for the caller. */
export async function recordCommands(environment: Environment, run: string, text: string): Promise<void> {
  const folder = folderOf(environment);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceSmallFile(`${folder}/${run}.run`, new TextEncoder().encode(text), { durable: false });
}

/** Records of commands that have not ended, or whose run was killed. */
export function openCommands(environment: Environment): { readonly run: string; readonly text: string }[] {
  return textsIn(folderOf(environment), (name) => name.endsWith(".run"))
    .map(({ name, text }) => ({ run: name.slice(0, -4), text }));
}

/** Records that commands ended now. */
export async function recordCommandsEnd(environment: Environment, run: string): Promise<void> {
  const folder = folderOf(environment);
  const time = new TextEncoder().encode(String(Date.now()));
  await replaceSmallFile(`${folder}/${ENDED}`, time, { durable: false });
  // Of a killed run, two others may record the end at the same time.
  await removeIfThere(`${folder}/${run}.run`);
}

/** Time in milliseconds when the last commands ended; 0 if none ran. */
export async function commandsEnded(environment: Environment): Promise<number> {
  const bytes = await readOrNull(`${folderOf(environment)}/${ENDED}`);
  // A text that is not a number is a damaged file, so commands may have ended at any time.
  return bytes === null ? 0 : Number(new TextDecoder().decode(bytes)) || Infinity;
}

function folderOf(environment: Environment): string {
  return `${stateFolder(environment)}/waiting`;
}

/** Returns the texts of some files in a folder. Files that another run removes meanwhile are left out. */
function textsIn(
  folder: string,
  isWanted: (name: string) => boolean,
): { readonly name: string; readonly text: string }[] {
  return ifThere(() => [...Deno.readDirSync(folder)]).filter(({ name }) => isWanted(name))
    .flatMap(({ name }) => ifThere(() => [{ name, text: Deno.readTextFileSync(`${folder}/${name}`) }]));
}

function ifThere<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return [];
    throw thrown;
  }
}
